//! Fits recover the parameters of known Markov chains and of the simulator's channel, and the intervals have the right
//! coverage.

use lasthop_base::{Choice, Duration, Stream, Time, Value};
use lasthop_import::losses::{LossModel, LossRecord, fitted};
use lasthop_net::channel::{self, Reception, Transmission};
use lasthop_wire::Priority;

/// Losses from a two-state Markov chain. Each step first changes the state, then decides the loss.
fn chain(seed: u64, packets: u32, [p, r, bad, good]: [f64; 4]) -> LossRecord {
    let mut stream = Stream::named(seed, "chain");
    let mut is_bad = stream.uniform() < p / (p + r);
    (0..packets)
        .map(|_| {
            if stream.uniform() < if is_bad { r } else { p } {
                is_bad = !is_bad;
            }
            stream.uniform() < if is_bad { bad } else { good }
        })
        .collect()
}

fn value(fit: &lasthop_import::losses::Fit, model: LossModel, name: &str) -> (f64, [f64; 2]) {
    let fitted = fit.models.iter().find(|fitted| fitted.model == model).expect("a model");
    let value = fitted.values.iter().find(|value| value.name == name).expect("a value");
    (value.value, value.ci95)
}

#[test]
fn hidden_states_are_found_again() {
    // Values that da Silva and Pedroso fitted for Wi-Fi (Sensors 22, 2022). Bad periods have 5.4 packets (1 / r), of
    // which 61 % are lost. The order is p, r, loss in the bad state, loss in the good state.
    let truth = [0.0393, 0.1862, 0.6097, 0.0055];
    let fit = fitted(&chain(1, 400_000, truth), None).expect("a fit");
    assert_eq!(fit.best().model, LossModel::GilbertElliott);
    for (name, truth) in ["p", "r", "loss_bad", "loss_good"].into_iter().zip(truth) {
        let (found, [low, high]) = value(&fit, LossModel::GilbertElliott, name);
        assert!((found / truth - 1.0).abs() < 0.1, "{name}: {found}, not {truth}");
        // The tolerance is three half-widths of the interval, which are six standard errors.
        let half = 0.5 * (high - low);
        assert!(
            (found - truth).abs() < 3.0 * half && half < 0.1 * truth.max(0.02),
            "{name}: {found} ± {half}"
        );
    }
}

#[test]
fn intervals_hold_the_truth_as_often_as_they_say() {
    let truth = [0.02, 0.3, 0.7, 0.004];
    let names = ["p", "r", "loss_bad", "loss_good"];
    let (mut held, mut all) = (0, 0);
    for seed in 0..60 {
        let fit = fitted(&chain(seed, 60_000, truth), Some(LossModel::GilbertElliott)).expect("a fit");
        for (name, truth) in names.into_iter().zip(truth) {
            let (_, [low, high]) = value(&fit, LossModel::GilbertElliott, name);
            all += 1;
            held += u32::from(low <= truth && truth <= high);
        }
    }
    // 95 % of the 240 intervals should contain the true value. The four intervals of one fit are correlated, so the
    // standard error is that of 60 fits, 2.8 %. The limit of 85 % is more than three standard errors below 95 %.
    assert!(f64::from(held) >= 0.85 * f64::from(all), "{held} of {all}");
}

#[test]
fn the_simplest_model_that_made_it_is_chosen() {
    let none = chain(3, 200_000, [0.5, 0.5, 0.01, 0.01]);
    assert_eq!(fitted(&none, None).expect("a fit").best().model, LossModel::Iid);
    let gilbert = chain(4, 200_000, [0.01, 0.25, 1.0, 0.0]);
    let fit = fitted(&gilbert, None).expect("a fit");
    assert_eq!(fit.best().model, LossModel::Gilbert);
    let (p, [low, high]) = value(&fit, LossModel::Gilbert, "p");
    assert!(low < 0.01 && 0.01 < high && (p / 0.01 - 1.0).abs() < 0.1, "{p}, {low} to {high}");
    assert!(fit.netem().contains("loss gemodel"), "{}", fit.netem());
}

#[test]
fn our_own_channel_s_record_gives_its_settings_back() {
    let mut choice = Choice::named(channel::ALL, "two_state");
    for (name, value) in [("p", 0.02), ("r", 0.2), ("loss_bad", 0.5), ("loss_good", 0.002)] {
        choice.values.set(name, Value::Number(value));
    }
    let mut channel = (choice.build)(&choice.values, Stream::named(5, "test"));
    let record: LossRecord = (0..300_000_u64)
        .map(|at| {
            let start = Time::from_nanos(at * 1_000_000);
            let end = start + Duration::from_millis(1);
            let transmission =
                Transmission { start, end, bytes: 1000, priority: Priority::NORMAL, attempt: 0 };
            channel.transmit(&transmission) == Reception::Lost
        })
        .collect();
    let fit = fitted(&record, None).expect("a fit");
    for (name, truth) in [("p", 0.02), ("r", 0.2), ("loss_bad", 0.5), ("loss_good", 0.002)] {
        let (found, [low, high]) = value(&fit, LossModel::GilbertElliott, name);
        let half = 0.5 * (high - low);
        assert!((found - truth).abs() < 3.0 * half, "{name}: {found} ± {half}, not {truth}");
    }
}

#[test]
fn what_cannot_be_fitted_is_said() {
    let all: LossRecord = [true; 5].into_iter().collect();
    assert!(fitted(&all, None).expect_err("no path").message.contains("every packet was lost"));
    let few: LossRecord = [false, true, false, false].into_iter().collect();
    assert!(fitted(&few, Some(LossModel::GilbertElliott)).expect_err("too few").message.contains("too few"));
    assert!(fitted(&LossRecord::default(), None).expect_err("empty").message.contains("no packets"));
    let none: LossRecord = [false; 1000].into_iter().collect();
    assert_eq!(fitted(&none, None).expect("a fit").best().model, LossModel::Iid);
}
