import fc from 'fast-check';

/** A fixed seed makes runs comparable; `SEED=1 npm test -- …` generates other values. */
const SEED = Number(process.env.SEED ?? 20_261_121);

fc.configureGlobal({ seed: SEED });
