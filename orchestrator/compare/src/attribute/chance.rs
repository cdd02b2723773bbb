//! How easily chance does as well.

/// Logarithms of factorials, for so many cells.
pub(super) struct Chance {
    factorials: Vec<f64>,
}

impl Chance {
    pub(super) fn new(cells: usize) -> Self {
        let mut factorials = vec![0.0];
        let mut sum = 0.0;
        for number in 1..=cells {
            sum += (number as f64).ln();
            factorials.push(sum);
        }
        Self { factorials }
    }

    fn choose(&self, all: usize, some: usize) -> f64 {
        if some > all {
            return f64::NEG_INFINITY;
        }
        self.factorials[all] - self.factorials[some] - self.factorials[all - some]
    }

    /// In how many ways so many of the cells can be bad.
    pub(super) fn ways(&self, bad: usize) -> f64 {
        self.choose(self.factorials.len() - 1, bad).exp()
    }

    /// Fisher's exact test, one-sided: how probable it is that of `bad` cells among all, `hits` or
    /// more are among these `inside`.
    pub(super) fn fisher(&self, inside: usize, bad: usize, hits: usize) -> f64 {
        let all = self.factorials.len() - 1;
        let whole = self.choose(all, bad);
        let chance = |hits| {
            (self.choose(inside, hits) + self.choose(all - inside, bad - hits) - whole).exp()
        };
        (hits..=inside.min(bad)).map(chance).sum::<f64>().min(1.0)
    }
}

/// `all` over `some`, for few of many.
pub(super) fn choose_few(all: f64, some: usize) -> f64 {
    (0..some).fold(1.0, |ways, place| {
        ways * (all - place as f64).max(0.0) / (place as f64 + 1.0)
    })
}
