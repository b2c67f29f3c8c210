import { useProblem } from '../shell/problem.js';
import { explainSealing } from './explain-sealing.js';

/** Like {@link useProblem}, with messages for errors of sealing, opening and storing values. */
export const useSealingProblem = <Args extends readonly unknown[]>(work: (...args: Args) => Promise<void>) =>
  useProblem(work, explainSealing);
