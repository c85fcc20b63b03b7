//! Tests that every mechanism has a name, a summary, a source and described parameters.

use lasthop_middlebox::Catalogue;

#[test]
fn every_mechanism_is_described() {
    let catalogue = Catalogue::default();
    let seams = catalogue.seams();
    assert!(seams.len() == 1);
    let mistakes: Vec<String> = seams.iter().flat_map(|seam| seam.mistakes()).collect();
    assert!(mistakes.is_empty(), "{mistakes:#?}");
}
