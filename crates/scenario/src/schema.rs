//! JSON Schema (draft 2020-12) for scenario files, for use by editors.
//!
//! The schema checks each key's value. Only reading the scenario checks that nodes exist and that routes have no loops.

use crate::catalogue::Catalogue;
use crate::key::{Key, Presence, ValueType, parameters};
use crate::language::{self, TRAFFIC};
use crate::mechanisms::LIMITS;
use lasthop_base::{Info, SeamInfo, Unit};
use serde_json::{Map, Value, json};

impl Catalogue {
    /// JSON Schema (draft 2020-12) for scenario files, for use by editors.
    pub fn schema(&self) -> Value {
        document(self)
    }
}

fn document(catalogue: &Catalogue) -> Value {
    let mut definitions = Map::new();
    definitions.insert("name".into(), json!({ "type": "string", "pattern": NAME }));
    definitions.insert("replicas".into(), replicas());
    for seam in catalogue.seams() {
        definitions.insert(definition(seam), mechanism(seam));
    }
    let flows = TRAFFIC.iter().map(|kind| flow(catalogue, kind));
    let mut properties = Map::new();
    for key in language::document("") {
        let schema = match key.name {
            "title" => json!({ "type": "string", "description": key.doc }),
            "link" => named(key.doc, link(catalogue)),
            "node" => named(key.doc, object("", &language::node(catalogue))),
            "flow" => named(key.doc, json!({ "anyOf": flows.clone().collect::<Vec<_>>() })),
            "route" => routes(key.doc),
            _ => property(&key),
        };
        properties.insert(key.name.into(), schema);
    }
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Lasthop scenario",
        "type": "object",
        "properties": properties,
        "required": ["link", "flow"],
        "additionalProperties": false,
        "$defs": definitions,
    })
}

const NAME: &str = "^[A-Za-z0-9_-]{1,64}$";
/// Pattern of a number with a unit. The description of each key lists its units.
const QUANTITY: &str = r"^\s*[0-9.+_][0-9._eE+-]*\s*[A-Za-zµ/]+\s*$";

/// Pattern of a list of whole numbers, separated by commas. The list may be empty.
const COUNTS: &str = r"^\s*([0-9]+\s*(,\s*[0-9]+\s*)*)?$";

fn named(doc: &str, table: Value) -> Value {
    json!({
        "type": "object",
        "description": doc,
        "minProperties": 1,
        "propertyNames": { "pattern": NAME },
        "additionalProperties": table,
    })
}

fn routes(doc: &str) -> Value {
    let next = json!({ "type": "object", "additionalProperties": { "$ref": "#/$defs/name" } });
    json!({ "type": "object", "description": doc, "additionalProperties": next })
}

fn link(catalogue: &Catalogue) -> Value {
    let direction: Vec<Key> = language::direction(catalogue).into_iter().map(Key::made_optional).collect();
    let one_rate = json!({ "not": { "required": ["rate", "trace"] } });
    let mut one_way = object("", &direction);
    extend(&mut one_way, one_rate.clone());
    let mut link = object("", language::link_ends());
    if let Some(properties) = link.get_mut("properties").and_then(Value::as_object_mut) {
        for key in &direction {
            properties.insert(key.name.into(), property(key));
        }
        for key in language::link_ends().iter().filter(|key| matches!(key.value_type, ValueType::Table)) {
            let mut schema = one_way.clone();
            extend(&mut schema, json!({ "description": key.doc }));
            properties.insert(key.name.into(), schema);
        }
    }
    extend(&mut link, one_rate);
    link
}

/// Values that differ between the replicas of a flow.
fn replicas() -> Value {
    let share = json!({ "type": "number", "exclusiveMinimum": 0 });
    let mix = json!({ "type": "object", "minProperties": 1, "additionalProperties": share });
    json!({
        "description": "a value for each replica of a flow, values with shares, or a uniform range",
        "anyOf": [
            { "type": "array", "minItems": 1 },
            { "type": "object", "required": ["mix"], "properties": { "mix": mix }, "additionalProperties": false },
            { "type": "string", "pattern": "^uniform .* to " },
        ],
    })
}

/// Keys of a flow whose value is the same for all replicas.
const SHARED: [&str; 6] = ["from", "to", "kind", "count", "stagger", "arrivals"];

/// Permits lists, mixes and ranges as values of all keys but [`SHARED`] keys and tables.
fn vary(keys: &[Key], table: &mut Value) {
    let Some(properties) = table.get_mut("properties").and_then(Value::as_object_mut) else { return };
    let is_varied = |key: &&Key| !SHARED.contains(&key.name) && !matches!(key.value_type, ValueType::Table);
    for key in keys.iter().filter(is_varied) {
        if let Some(schema) = properties.get_mut(key.name) {
            let mut one = schema.take();
            let mut outer = Map::new();
            for shared in ["description", "default", "examples"] {
                if let Some(value) = one.as_object_mut().and_then(|one| one.remove(shared)) {
                    outer.insert(shared.into(), value);
                }
            }
            outer.insert("anyOf".into(), json!([one, { "$ref": "#/$defs/replicas" }]));
            *schema = Value::Object(outer);
        }
    }
}

fn flow(catalogue: &Catalogue, kind: &str) -> Value {
    let keys = language::flow(catalogue, kind);
    let mut flow = object("", &keys);
    vary(&keys, &mut flow);
    if let Some(properties) = flow.get_mut("properties").and_then(Value::as_object_mut) {
        properties.insert("kind".into(), json!({ "const": kind }));
        for (end, keys) in
            [("sender", language::sender(catalogue)), ("receiver", language::receiver(catalogue))]
        {
            if let Some(place) = properties.get_mut(end) {
                let doc = place.get("description").and_then(Value::as_str).unwrap_or_default().to_owned();
                *place = object(&doc, &keys);
                vary(&keys, place);
            }
        }
    }
    if kind != "tcp" {
        // A flow without `kind` is a TCP flow, so only other flows require the key.
        if let Some(required) = flow.get_mut("required").and_then(Value::as_array_mut) {
            required.push(json!("kind"));
        }
    }
    flow
}

fn object(doc: &str, keys: &[Key]) -> Value {
    let properties: Map<String, Value> =
        keys.iter().map(|key| (key.name.to_owned(), property(key))).collect();
    let required: Vec<&str> =
        keys.iter().filter(|key| matches!(key.presence, Presence::Required)).map(|key| key.name).collect();
    let mut object = json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    });
    if !doc.is_empty() {
        extend(&mut object, json!({ "description": doc }));
    }
    object
}

/// Name of the definition for a kind of mechanism. The side is part of the name, because two sides may have keys of the
/// same name.
fn definition(seam: &SeamInfo) -> String {
    format!("{}.{}", seam.side, seam.name)
}

fn property(key: &Key) -> Value {
    let mut schema = match &key.value_type {
        ValueType::Unit(unit) => self::unit(unit),
        ValueType::WordOr(words, otherwise) => json!({ "anyOf": [{ "enum": words }, unit(otherwise)] }),
        ValueType::Text | ValueType::File | ValueType::FileOrProcess => {
            json!({ "type": "string", "minLength": 1 })
        }
        ValueType::Node => json!({ "$ref": "#/$defs/name" }),
        ValueType::Mechanism(seam) => json!({ "$ref": format!("#/$defs/{}", definition(seam)) }),
        ValueType::Table => json!({ "type": "object" }),
    };
    extend(&mut schema, json!({ "description": key.doc }));
    match &key.presence {
        Presence::Default(text) => extend(&mut schema, json!({ "default": default(&key.value_type, text) })),
        Presence::Optional(example) if !example.is_empty() && !matches!(key.value_type, ValueType::Table) => {
            extend(&mut schema, json!({ "examples": [example] }));
        }
        Presence::Optional(_) | Presence::Required => {}
    }
    schema
}

fn default(value_type: &ValueType, text: &str) -> Value {
    match value_type {
        ValueType::Unit(Unit::Number(..) | Unit::Probability(..) | Unit::Count(..) | Unit::Flag) => {
            serde_json::from_str(text).unwrap_or_else(|_| json!(text))
        }
        _ => json!(text),
    }
}

fn unit(unit: &Unit) -> Value {
    match unit {
        Unit::Duration(..) => {
            json!({ "type": "string", "pattern": QUANTITY, "examples": ["45 ms", "1.5 s"] })
        }
        Unit::Rate => {
            json!({ "type": "string", "pattern": QUANTITY, "examples": ["2 Mbit/s", "384 kbit/s"] })
        }
        Unit::Bytes(..) => {
            json!({ "type": "string", "pattern": QUANTITY, "examples": ["1000 bytes", "64 KB"] })
        }
        Unit::Room(..) => {
            json!({ "type": "string", "pattern": QUANTITY, "examples": ["64 KB", "1 bdp"] })
        }
        Unit::Number(low, high) => number("number", json!(low), json!(high), ""),
        Unit::Probability(low, high) => number("number", json!(low), json!(high), r"(\s*%)?"),
        Unit::Count(low, high) => number("integer", json!(low), json!(high), ""),
        Unit::Counts => {
            json!({ "type": "string", "pattern": COUNTS, "examples": ["14, 26, 28"] })
        }
        Unit::Flag => json!({ "enum": [true, false, "true", "false"] }),
        Unit::Word(words) => json!({ "enum": words }),
    }
}

fn number(kind: &str, low: Value, high: Value, suffix: &str) -> Value {
    let pattern = format!(r"^\s*[0-9.+_-][0-9._eE+-]*{suffix}\s*$");
    json!({ "anyOf": [
        { "type": kind, "minimum": low, "maximum": high },
        { "type": "string", "pattern": pattern },
    ]})
}

fn mechanism(seam: &SeamInfo) -> Value {
    let word = |info: &&'static Info| json!({ "const": info.name, "description": format!("{} ({})", info.summary, info.source) });
    let table = |info: &&'static Info| {
        let mut object = object(&format!("{} ({})", info.summary, info.source), &parameters(info));
        if let Some(properties) = object.get_mut("properties").and_then(Value::as_object_mut) {
            properties.insert("kind".into(), json!({ "const": info.name }));
        }
        if let Some(required) = object.get_mut("required").and_then(Value::as_array_mut) {
            required.push(json!("kind"));
        }
        object
    };
    let mut forms: Vec<Value> = seam.mechanisms.iter().map(word).collect();
    if let Some(limited) = seam.limited() {
        forms.push(json!({
            "type": "string",
            "pattern": r"^\s*(unlimited|[0-9.+_][0-9._eE+-]*\s*[A-Za-z]+)\s*$",
            "description": format!("`{}` with this limit: {LIMITS}", limited.name),
        }));
    }
    forms.extend(seam.mechanisms.iter().map(table));
    json!({ "description": seam.label, "anyOf": forms })
}

fn extend(schema: &mut Value, further: Value) {
    if let (Some(schema), Value::Object(further)) = (schema.as_object_mut(), further) {
        schema.extend(further);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reference_leads_somewhere_and_every_mechanism_is_there() {
        let catalogue = Catalogue::default();
        let schema = catalogue.schema();
        let text = schema.to_string();
        for seam in catalogue.seams() {
            assert!(schema["$defs"][&definition(seam)].is_object(), "{}", seam.name);
            for info in &seam.mechanisms {
                assert!(text.contains(&format!("\"const\":\"{}\"", info.name)), "{}", info.name);
            }
        }
        for reference in text.split("\"$ref\":\"#/$defs/").skip(1) {
            let name = reference.split('"').next().unwrap_or_default();
            assert!(schema["$defs"][name].is_object(), "{name}");
        }
    }

    #[test]
    fn defaults_have_the_type_of_their_keys() {
        let schema = Catalogue::default().schema();
        assert_eq!(schema["properties"]["runs"]["default"], json!(10));
        assert_eq!(schema["properties"]["duration"]["default"], json!("60 s"));
        let tcp = &schema["properties"]["flow"]["additionalProperties"]["anyOf"][0];
        assert_eq!(tcp["properties"]["sack"]["default"], json!(true));
        assert_eq!(tcp["properties"]["sender"]["properties"]["recovery"]["default"], json!("sack"));
    }
}
