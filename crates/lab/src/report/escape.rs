//! Data within markup.

/// `text` for HTML, between tags or within a quoted attribute.
pub fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '"' => out += "&quot;",
            '\'' => out += "&#39;",
            other => out.push(other),
        }
    }
    out
}

/// `text` as a label of Plotly's, which knows a few tags and these three entities.
pub fn label(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// `json` for a script element, whose end it must not spell.
pub fn in_script(json: &str) -> String {
    json.replace('<', "\\u003c")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_the_data_is_markup() {
        assert_eq!(escaped("a<b & \"c\" 'd'>"), "a&lt;b &amp; &quot;c&quot; &#39;d&#39;&gt;");
        assert_eq!(label("p < 1 & <b>"), "p &lt; 1 &amp; &lt;b&gt;");
        assert_eq!(in_script(r#""</script>""#), r#""\u003c/script>""#);
    }
}
