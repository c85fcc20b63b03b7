//! One declaration of a configuration and of the seams in it.

/// Declares a configuration, how one is made, and the catalogue of its seams: one entry for each plain field, one for each
/// seam.
///
/// * A plain field has its value at first, and behind `=>` what is hashed in its place, where its type has no hash.
/// * A seam has its side, its name (the scenario key and the field in both structs), its type, the module with its `DEFAULT`
///   and `ALL`, further lists, and the question; behind `at first` the choice at first, if that is not `DEFAULT`.
///
/// ```
/// mod shape {
///     use lasthop_base::{Info, Mechanism, Values};
///
///     pub type Build = dyn Fn(&Values) -> u32 + Send + Sync;
///     pub const DEFAULT: Mechanism<Build> = Mechanism { info: Info { name: "once", ..Info::PLAIN }, build: &|_| 1 };
///     pub const ALL: &[Mechanism<Build>] = &[DEFAULT];
/// }
///
/// lasthop_base::seams! {
///     /// An end.
///     #[derive(Clone, Debug)]
///     pub struct Config {
///         /// Payload of a segment, bytes.
///         pub segment: u32 = segment,
///         /// Share of segments that are lost.
///         pub loss: f64 = 0.0 => f64::to_bits,
///     }
///     /// An end with such segments.
///     pub fn of(segment: u32);
///     /// Its seams.
///     pub struct Catalogue {
///         /// Form of acknowledgements.
///         "receiver" shape: shape::Build = shape, "ACK splitting";
///     }
/// }
///
/// let (catalogue, config) = (Catalogue::default(), Config::of(1000));
/// assert_eq!((config.shape.info.name, catalogue.questions()[0].name), ("once", "shape"));
/// ```
#[macro_export]
macro_rules! seams {
    (
        $(#[$of_config:meta])*
        pub struct $Config:ident {
            $($(#[$of_field:meta])* pub $field:ident: $type:ty = $first:expr $(=> $hashed:expr)?,)*
        }
        $(#[$of_new:meta])*
        $visibility:vis fn $new:ident($($argument:ident: $argument_type:ty),*);
        $(#[$of_catalogue:meta])*
        pub struct $Catalogue:ident {
            $(
                $(#[$of_seam:meta])*
                $side:literal $seam:ident: $build:ty = $module:ident $(+ $more:ident)*, $question:literal
                $(, at first $choice:expr)?;
            )*
        }
    ) => {
        $(#[$of_config])*
        pub struct $Config {
            $($(#[$of_field])* pub $field: $type,)*
            $($(#[$of_seam])* pub $seam: $crate::Choice<$build>,)*
        }

        impl $Config {
            $(#[$of_new])*
            $visibility fn $new($($argument: $argument_type),*) -> $Config {
                $Config {
                    $($field: $first,)*
                    $($seam: $crate::seams!(@ $module $(, $choice)?),)*
                }
            }
        }

        impl ::std::hash::Hash for $Config {
            fn hash<H: ::std::hash::Hasher>(&self, state: &mut H) {
                $(::std::hash::Hash::hash($crate::seams!(# &self.$field $(, $hashed)?), state);)*
                $(::std::hash::Hash::hash(&self.$seam, state);)*
            }
        }

        $(#[$of_catalogue])*
        #[derive(Clone, Debug)]
        pub struct $Catalogue {
            $($(#[$of_seam])* pub $seam: $crate::Seam<$build>,)*
        }

        impl Default for $Catalogue {
            fn default() -> $Catalogue {
                $Catalogue {
                    $($seam: $crate::Seam::new(
                        $side, stringify!($seam), $question, &$module::DEFAULT, $module::ALL,
                    )$(.with($more::ALL))*,)*
                }
            }
        }

        impl $Catalogue {
            /// Every question, with a description of its answers.
            pub fn questions(&self) -> Vec<&$crate::Question> {
                vec![$(self.$seam.question()),*]
            }

            /// Puts the answer to the question of this name into a configuration; false if there is no such question or
            /// answer.
            pub fn answer(&self, config: &mut $Config, question: &str, answer: &$crate::Answer) -> bool {
                match question {
                    $(stringify!($seam) => self.$seam.answer(answer, &mut config.$seam),)*
                    _ => false,
                }
            }
        }
    };
    (@ $module:ident) => { $crate::Choice::of(&$module::DEFAULT) };
    (@ $module:ident, $choice:expr) => { $choice };
    (# $value:expr) => { $value };
    (# $value:expr, $hashed:expr) => { &$hashed(*$value) };
}
