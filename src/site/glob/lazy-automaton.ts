import { closure, step } from './glob-automaton.js';
import type { Automaton } from './glob-automaton.js';

/** A set of states of the automaton, and the known sets that follow it. */
interface DfaState {
  readonly kernel: readonly number[];
  readonly next: (DfaState | undefined)[];
  isFinal: boolean | undefined;
}

/** The number of cached transitions per pattern, which take about 100 kB. */
const MAX_TRANSITIONS = 16_384;

/** Reading the clock takes as long as testing some hundred code units. */
const CODES_PER_CHECK = 4096;

/**
 * Tests texts in one pass over their code units. The deterministic automaton is built on demand and discarded when it
 * grows too large, so that neither time nor memory is exponential in the pattern.
 */
export class LazyAutomaton {
  readonly #automaton: Automaton;
  readonly #maxStates: number;
  #known = new Map<string, DfaState>();
  #start: DfaState;

  constructor(automaton: Automaton) {
    this.#automaton = automaton;
    this.#maxStates = Math.max(64, Math.floor(MAX_TRANSITIONS / automaton.classes.count));
    this.#start = this.#state([automaton.start]);
  }

  /** @param check Called regularly in a long text; an error that it throws ends the test. */
  test(text: string, check?: () => void): boolean {
    const { classes } = this.#automaton;
    let state = this.#start;
    for (let index = 0; index < text.length; index += 1) {
      const symbol = classes.of(text.charCodeAt(index));
      state = state.next[symbol] ?? this.#follow(state, symbol);
      if (state.kernel.length === 0) return false;
      if (index % CODES_PER_CHECK === CODES_PER_CHECK - 1) check?.();
    }
    return (state.isFinal ??= this.#isFinal(state));
  }

  #follow(state: DfaState, symbol: number): DfaState {
    const kernel = step(this.#automaton, closure(this.#automaton, state.kernel, symbol), symbol);
    const next = this.#state(kernel);
    state.next[symbol] = next;
    return next;
  }

  #state(kernel: readonly number[]): DfaState {
    const key = kernel.join();
    const known = this.#known.get(key);
    if (known) return known;
    if (this.#known.size >= this.#maxStates) this.#reset();
    const state = { kernel, next: [], isFinal: undefined };
    this.#known.set(key, state);
    return state;
  }

  #reset(): void {
    this.#known = new Map();
    this.#start = { kernel: this.#start.kernel, next: [], isFinal: undefined };
    this.#known.set(this.#start.kernel.join(), this.#start);
  }

  #isFinal({ kernel }: DfaState): boolean {
    const { classes, final } = this.#automaton;
    return closure(this.#automaton, kernel, classes.count).includes(final);
  }
}
