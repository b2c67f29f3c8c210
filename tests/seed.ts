import fc from 'fast-check';

/** The same questions on every run, so that a change is judged by itself; `SEED=1 npm test -- …` asks others. */
const SEED = Number(process.env.SEED ?? 20_261_121);

fc.configureGlobal({ seed: SEED });
