import { useProblem } from '../shell/problem.js';
import { explainSealing } from './explain-sealing.js';

/** As any problem, with words for what sealing, opening and storing values can fail of. */
export const useSealingProblem = <Args extends readonly unknown[]>(work: (...args: Args) => Promise<void>) =>
  useProblem(work, explainSealing);
