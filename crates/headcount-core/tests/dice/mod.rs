//! Chance for tests: small, seeded, the same on every machine.

/// Marsaglia's xorshift.
pub(crate) struct Dice(u64);

impl Dice {
    /// Dice that fall the same way for the same `seed`.
    pub(crate) fn new(seed: u64) -> Self {
        let mut dice = Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
        // Small seeds differ in few bits; after some rolls they differ in half of them.
        for _ in 0..8 {
            dice.below(2);
        }
        dice
    }

    /// A number from 0 up to, but not including, `end`.
    pub(crate) fn below(&mut self, end: u32) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        u32::try_from((self.0 >> 16) % u64::from(end)).expect("less than a u32")
    }
}
