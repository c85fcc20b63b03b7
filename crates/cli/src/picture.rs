//! Implements `--figure FILE.svg|png`: writes one picture to a file.
//!
//! resvg draws the PNG from the SVG with the font in the folder `font`. System fonts are not used, because they differ
//! between machines.

use crate::failure::Failure;
use crate::provenance_chapter::command_line;
use crate::target::{self, Target};
use lasthop_lab::figure::Figure;
use lasthop_lab::plot::standalone::{self, Picture};
use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

const FONT: &[u8] = include_bytes!("../font/OpenSans-Regular.ttf");
/// Family name in the font file.
const FAMILY: &str = "Open Sans";
/// Number of pixels of the PNG per pixel of the SVG, in each dimension.
const SCALE: f32 = 2.0;

/// Parses the path of a picture, which must end with .svg or .png.
pub(crate) fn path(text: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    match extension(&path).as_str() {
        "svg" | "png" => Ok(path),
        _ => Err("expected a name that ends with .svg or .png".to_owned()),
    }
}

/// Writes the figures as one picture, with the title above and the note below the figures.
pub(crate) fn write(
    mut target: Target,
    title: &str,
    note: &str,
    figures: Vec<Figure>,
) -> Result<(), Failure> {
    let (title, note, command) = (title.to_owned(), note.to_owned(), command_line(std::env::args()));
    let shown = target.path().to_owned();
    let Some(svg) = standalone::svg(&Picture { title, note, command: command.clone(), figures }) else {
        return Err(Failure::failed(
            format!("cannot draw `{}`: the runs have no points to draw", shown.display()),
            "is the duration longer than the sampling interval? See the key `sample`",
        ));
    };
    let bytes = match extension(&shown).as_str() {
        "png" => png(&svg, &command).map_err(|error| target::unfinished(&shown, &error))?,
        _ => svg.into_bytes(),
    };
    target.write_all(&bytes).map_err(|error| target::unfinished(&shown, &error))?;
    target.finish_and_note()
}

fn extension(path: &Path) -> String {
    path.extension().map_or(String::new(), |extension| extension.to_string_lossy().to_lowercase())
}

fn png(svg: &str, command: &str) -> io::Result<Vec<u8>> {
    let mut options = Options { font_family: FAMILY.to_owned(), ..Options::default() };
    let fonts = Arc::make_mut(&mut options.fontdb);
    fonts.load_font_data(FONT.to_vec());
    fonts.set_sans_serif_family(FAMILY);
    let tree = Tree::from_str(svg, &options).map_err(io::Error::other)?;
    let size = tree.size().to_int_size().scale_by(SCALE);
    let mut pixels = size
        .and_then(|size| Pixmap::new(size.width(), size.height()))
        .ok_or_else(|| io::Error::other("the picture is too large"))?;
    resvg::render(&tree, Transform::from_scale(SCALE, SCALE), &mut pixels.as_mut());
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, pixels.width(), pixels.height());
    encoder.set_color(png::ColorType::Rgba);
    encoder.add_itxt_chunk("Comment".to_owned(), command.to_owned())?;
    // `pixels` holds premultiplied colours, which equal plain colours because the background is opaque.
    encoder.write_header()?.write_image_data(pixels.data())?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_extension_decides_whatever_its_case() {
        assert_eq!(path("a.b/c.PNG"), Ok(PathBuf::from("a.b/c.PNG")));
        assert!(path("c.svg").is_ok());
        for wrong in ["c.pdf", "c", "svg", ".png", "c.svg.gz"] {
            assert!(path(wrong).is_err(), "{wrong}");
        }
    }

    /// Without the font, pictures would have no text.
    #[test]
    fn the_font_has_its_name_and_draws_text() {
        let drawn = |text: &str| {
            let svg = format!(
                "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"40\" height=\"20\" font-family=\"{FAMILY}, Arial\">\
                 <text y=\"15\">{text}</text></svg>"
            );
            png(&svg, "").unwrap().len()
        };
        let empty = drawn("");
        for text in ["a", "−", "±", "µ", "≤", "λ", "ё"] {
            assert!(drawn(text) > empty, "{text}");
        }
    }
}
