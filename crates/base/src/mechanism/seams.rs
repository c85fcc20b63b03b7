//! Macro that declares a configuration and the seams of the configuration. A seam is an extension point for one kind of
//! mechanism.

/// Declares a configuration, a constructor of the configuration, and a catalogue of the configuration's seams.
///
/// * A plain field is written `pub name: Type = initial value,`. If `Type` does not implement `Hash`, `=>` and a
///   function that converts the value to a hashable type follow the initial value.
/// * A seam is written `"side" name: Type = module, "label";`, where `Type` is the constructor type. The configuration
///   and the catalogue each get a field `name`. This name is also the key in a scenario, unless `as "key"` follows the
///   name. `module` must define `DEFAULT` and `ALL`. `+ other` after the module adds the mechanisms in `other::ALL` to
///   the seam. `, at first CHOICE` after the label replaces `DEFAULT` as the initial choice of the configuration.
///
/// ```
/// mod ack_splitting {
///     use lasthop_base::{Info, Mechanism, Values};
///
///     pub type Build = dyn Fn(&Values) -> u32 + Send + Sync;
///     pub const DEFAULT: Mechanism<Build> = Mechanism { info: Info { name: "once", ..Info::PLAIN }, build: &|_| 1 };
///     pub const ALL: &[Mechanism<Build>] = &[DEFAULT];
/// }
///
/// lasthop_base::seams! {
///     /// Configuration of an endpoint.
///     #[derive(Clone, Debug)]
///     pub struct Config {
///         /// Payload of a segment, bytes.
///         pub segment: u32 = segment,
///         /// Share of lost segments.
///         pub loss: f64 = 0.0 => f64::to_bits,
///     }
///     /// Returns a configuration with segments of `segment` bytes.
///     pub fn of(segment: u32);
///     /// Seams of `Config`.
///     pub struct Catalogue {
///         /// ACK splitting.
///         "receiver" ack_splitting: ack_splitting::Build = ack_splitting, "ACK splitting";
///     }
/// }
///
/// let (catalogue, config) = (Catalogue::default(), Config::of(1000));
/// assert_eq!((config.ack_splitting.info.name, catalogue.seams()[0].name), ("once", "ack_splitting"));
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
                $side:literal $seam:ident $(as $key:literal)?: $build:ty = $module:ident $(+ $more:ident)*, $label:literal
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
                        $side, $crate::seams!(= $seam $($key)?), $label, &$module::DEFAULT, $module::ALL,
                    )$(.with($more::ALL))*,)*
                }
            }
        }

        impl $Catalogue {
            /// Returns the descriptions of all seams.
            pub fn seams(&self) -> Vec<&$crate::SeamInfo> {
                vec![$(self.$seam.info()),*]
            }

            /// Stores a selected mechanism in a configuration. Returns false if the seam or the mechanism is unknown.
            pub fn select(&self, config: &mut $Config, seam: &$crate::SeamInfo, selection: &$crate::Selection) -> bool {
                let wanted = (seam.side, seam.name);
                $(if wanted == ($side, $crate::seams!(= $seam $($key)?)) {
                    return self.$seam.select(selection, &mut config.$seam);
                })*
                false
            }
        }
    };
    (= $seam:ident) => { stringify!($seam) };
    (= $seam:ident $key:literal) => { $key };
    (@ $module:ident) => { $crate::Choice::of(&$module::DEFAULT) };
    (@ $module:ident, $choice:expr) => { $choice };
    (# $value:expr) => { $value };
    (# $value:expr, $hashed:expr) => { &$hashed(*$value) };
}
