//! Profiles: defaults of a flow's keys that imitate a real TCP implementation, such as Linux.

use crate::key::{Key, Presence, ValueType};
use crate::tree::{Content, TomlTable};
use lasthop_tcp::profile::Profile;

/// Replaces the defaults of the sender's or the receiver's keys (selected by `side`) by the profile's values. `own` is
/// the flow's table `sender` or `receiver`.
pub(crate) fn applied(keys: Vec<Key>, profile: &Profile, side: &str, own: &TomlTable) -> Vec<Key> {
    let values = match side {
        "sender" => profile.sender,
        _ => profile.receiver,
    };
    let mut keys = keys;
    for (name, value) in values {
        preset(&mut keys, name, value);
    }
    for key in &mut keys {
        let of_this = profile.parameters.iter().filter(|preset| preset.with.0 == key.name);
        key.presets = of_this.copied().collect();
    }
    if side == "sender" {
        for beside in profile.beside {
            if chosen(&keys, own, beside.with.0) == beside.with.1 {
                preset(&mut keys, beside.key, beside.value);
            }
        }
    }
    keys
}

fn preset(keys: &mut [Key], name: &str, value: &'static str) {
    if let Some(key) = keys.iter_mut().find(|key| key.name == name) {
        key.presence = Presence::Default(value.into());
    }
}

/// Returns the name of the mechanism that the key `seam` selects: the mechanism that the flow names, or else the key's
/// default. A table without `kind` selects the language's default mechanism, even if the profile has another default.
fn chosen<'a>(keys: &'a [Key], own: &'a TomlTable, seam: &str) -> &'a str {
    let key = keys.iter().find(|key| key.name == seam);
    match (own.find(seam).map(|entry| &entry.node.content), key) {
        (Some(Content::Text(word)), _) => word,
        (Some(Content::Table(table)), _) if let Some(kind) = table.find("kind") => match &kind.node.content {
            Content::Text(word) => word,
            _ => "",
        },
        (Some(_), Some(Key { value_type: ValueType::Mechanism(seam), .. })) => seam.default.name,
        (None, Some(Key { presence: Presence::Default(text), .. })) => text,
        _ => "",
    }
}
