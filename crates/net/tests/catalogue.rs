//! Tests that every mechanism describes itself.

use lasthop_net::Catalogue;

/// Each mechanism must have a name of its own, a summary and a source, and each parameter a name of its own, an explanation
/// and a valid default. Conditions of parameters must name parameters.
#[test]
fn every_mechanism_is_described() {
    let catalogue = Catalogue::default();
    let seams = catalogue.seams();
    assert!(seams.len() >= 4);
    for seam in seams {
        let mut names = seam.names();
        names.sort_unstable();
        assert!(names.windows(2).all(|pair| pair[0] != pair[1]), "{}: {names:?}", seam.name);
        assert!(names.contains(&seam.default.name), "{}", seam.name);
        for info in &seam.mechanisms {
            let name = format!("{}.{}", seam.name, info.name);
            assert!(!info.name.is_empty(), "{name}: a name");
            assert!(info.summary.len() > 5 && !info.summary.ends_with('.'), "{name}: a summary");
            assert!(info.source.len() > 3, "{name}: a source");
            let mut parameters: Vec<&str> = info.parameters.iter().map(|it| it.name).collect();
            parameters.sort_unstable();
            assert!(parameters.windows(2).all(|pair| pair[0] != pair[1]), "{name}: {parameters:?}");
            assert!(info.parameters.iter().all(|it| !it.name.is_empty() && it.doc.len() > 5), "{name}");
            let set = info.defaults();
            assert!(set.iter().count() <= info.parameters.len());
            for rule in info.only_if {
                assert!(parameters.contains(&rule.other), "{name}: {}", rule.other);
                assert!(rule.parameters.iter().all(|it| parameters.contains(it)), "{name}");
            }
        }
    }
}
