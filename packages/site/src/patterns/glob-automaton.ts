import { AppError } from '@trellis/core/errors';
import {
  ANY,
  CharClasses,
  type CharSet,
  DOT,
  type Glob,
  type GlobNode,
  invert,
  NOT_SLASH,
  type Quantifier,
  single,
  SLASH,
  WORD,
} from './parse-glob.js';

/**
 * A nondeterministic finite automaton. A move consumes a code unit of a class. A jump consumes nothing, but may depend
 * on the class of the next code unit, which expresses the rules for the beginning of a segment without look-behind.
 */
export interface Automaton {
  readonly classes: CharClasses;
  readonly states: readonly State[];
  readonly start: number;
  readonly final: number;
}

interface State {
  readonly moves: { readonly on: Uint8Array; readonly to: number }[];
  readonly jumps: { readonly when: Uint8Array | undefined; readonly to: number }[];
}

export interface GlobOptions {
  /** Whether wildcards match a dot at the beginning of a segment. */
  readonly dot: boolean;
  /** Whether a match may begin at any word boundary outside hidden segments. */
  readonly anywhere?: boolean;
}

/**
 * Creates the automaton of a glob.
 *
 * @throws AppError `invalid_input` when it needs too many states, which happens only for nested or very long groups.
 */
export function createAutomaton(glob: Glob, options: GlobOptions): Automaton {
  const classes = new CharClasses([ANY, SLASH, DOT, WORD, ...setsOf(glob)]);
  const builder = new Builder(classes, options.dot);
  const start = builder.addState();
  const entry = options.anywhere ? builder.addAnywhere(start) : start;
  const ends = builder.addGlob(glob, { start: entry });
  const final = builder.addState();
  builder.join(ends.start, final);
  builder.join(ends.inside, final);
  return { classes, states: builder.states, start, final };
}

function setsOf(glob: Glob): CharSet[] {
  return glob.flatMap((node) => {
    if (node.type === 'literal') return [single(node.char)];
    if (node.type === 'class') return [node.set];
    return 'branches' in node ? node.branches.flatMap(setsOf) : [];
  });
}

/** The states in which a part of a pattern begins or ends: at the start of a path segment, or inside one. */
interface Ends {
  readonly start?: number;
  readonly inside?: number;
}

interface BothEnds {
  readonly start: number;
  readonly inside: number;
}

/** With this many states, a text of 100 characters takes at most about 100 µs, even without cached transitions. */
const MAX_STATES = 2000;

/** The maximum number of steps for the automata of negated groups; a step takes tens of nanoseconds. */
const MAX_EFFORT = 500_000;

class Builder {
  readonly states: State[] = [];
  readonly #classes: CharClasses;
  readonly #dot: boolean;
  #effort = 0;

  constructor(classes: CharClasses, dot: boolean) {
    this.#classes = classes;
    this.#dot = dot;
  }

  addState(): number {
    if (this.states.length >= MAX_STATES) throw tooComplex();
    return this.states.push({ moves: [], jumps: [] }) - 1;
  }

  join(from: number | undefined, to: number | undefined, when?: Uint8Array): void {
    if (from !== undefined && to !== undefined) this.states[from]?.jumps.push({ when, to });
  }

  addGlob(glob: Glob, entry: Ends): Ends {
    return glob.reduce<Ends>((ends, node) => this.#add(node, ends), entry);
  }

  /** Adds states for any path without hidden segments up to a word boundary. */
  addAnywhere(start: number): number {
    const [word, other, entry] = [this.addState(), this.addState(), this.addState()];
    const isWord = this.#classes.mask(WORD);
    const isOther = this.#classes.mask(invert(WORD), 1);
    for (const state of [start, word, other]) {
      this.#move(state, SLASH, start);
      this.#move(state, WORD, word);
      this.#move(state, without(invert(WORD), state === start ? '/.' : '/'), other);
      this.join(state, entry, state === word ? isOther : isWord);
    }
    return entry;
  }

  #add(node: GlobNode, entry: Ends): Ends {
    switch (node.type) {
      case 'literal':
        return this.#addSet(single(node.char), entry);
      case 'class':
        return this.#addSet(node.set, entry);
      case 'any':
        return this.#addAny(entry);
      case 'star':
        return this.#addStar(entry);
      case 'globstar':
        return this.#addGlobstar(entry, node.slash);
      case 'group':
        return this.#addGroup(node.branches, node.times, entry);
      case 'not':
        return this.#addNegation(node, entry);
    }
  }

  #addSet(set: CharSet, { start, inside }: Ends): Ends {
    const end = this.addState();
    for (const state of [start, inside]) this.#move(state, set, end);
    return set === SLASH || isSlash(set) ? { start: end } : { inside: end };
  }

  #addAny({ start, inside }: Ends): Ends {
    const end = this.addState();
    this.#move(start, this.#first(), end);
    this.#move(inside, NOT_SLASH, end);
    return { inside: end };
  }

  /** At the beginning of a segment, a star does not match an empty segment. */
  #addStar({ start, inside }: Ends): Ends {
    const loop = this.addState();
    this.join(start, loop, this.#classes.mask(this.#first()));
    this.join(inside, loop);
    this.#move(loop, NOT_SLASH, loop);
    return { inside: loop };
  }

  #addGlobstar({ start, inside }: Ends, slash: boolean): Ends {
    const [segment, rest] = [this.addState(), this.addState()];
    this.join(start, segment);
    this.join(inside, rest);
    this.#move(segment, this.#first(), rest);
    this.#move(rest, NOT_SLASH, rest);
    for (const state of [segment, rest]) this.#move(state, SLASH, segment);
    return slash ? { start: segment } : { start: segment, inside: rest };
  }

  #addGroup(branches: readonly Glob[], times: Quantifier, entry: Ends): Ends {
    const repeats = times === 'any' || times === 'many';
    const end = this.#addEnds();
    let inner = entry;
    if (repeats) {
      const loop = this.#addEnds();
      this.#joinEnds(entry, loop);
      this.#joinEnds(end, loop);
      inner = loop;
    }
    for (const branch of branches) this.#joinEnds(this.addGlob(branch, inner), end);
    if (times === 'optional' || times === 'any') this.#joinEnds(entry, end);
    return end;
  }

  #addEnds(): BothEnds {
    return { start: this.addState(), inside: this.addState() };
  }

  #joinEnds(from: Ends, to: BothEnds): void {
    this.join(from.start, to.start);
    this.join(from.inside, to.inside);
  }

  /**
   * Runs the deterministic automaton of the branches and ends wherever that automaton does not, which takes linear
   * time. In a negated group, a dot at the beginning of a segment is an ordinary character.
   */
  #addNegation({ branches, crosses }: Extract<GlobNode, { type: 'not' }>, entry: Ends): Ends {
    const end = this.#addEnds();
    const states = this.#determinize(branches).map((inner) => ({ ...inner, ...this.#addEnds() }));
    this.join(entry.start, states[0]?.start);
    this.join(entry.inside, states[0]?.inside);
    for (const { start, inside, targets, rejects } of states) {
      this.join(start, end.start, rejects);
      this.join(inside, end.inside, rejects);
      for (const { on, to } of targets) {
        const [next, slash] = [this.#within(on, NOT_SLASH), this.#within(on, SLASH)];
        this.#moveOn(inside, next, states[to]?.inside);
        this.#moveOn(start, crosses ? this.#within(next, this.#first()) : next, states[to]?.inside);
        if (crosses) for (const state of [start, inside]) this.#moveOn(state, slash, states[to]?.start);
      }
    }
    return end;
  }

  #determinize(branches: readonly Glob[]): readonly Deterministic[] {
    const builder = new Builder(this.#classes, true);
    builder.#effort = this.#effort;
    const start = builder.addState();
    const ends = builder.#addGroup(branches, 'once', { inside: start });
    const final = builder.addState();
    builder.join(ends.start, final);
    builder.join(ends.inside, final);
    const subsets = new Subsets({ classes: this.#classes, states: builder.states, start, final });
    const found: Deterministic[] = [];
    for (let index = 0; index < subsets.count; index += 1) {
      found.push(subsets.explore(index));
      if (builder.#effort + subsets.effort > MAX_EFFORT || subsets.count > MAX_STATES) throw tooComplex();
    }
    this.#effort = builder.#effort + subsets.effort;
    return found;
  }

  /** Returns the characters that a wildcard matches at the beginning of a segment. */
  #first(): CharSet {
    return this.#dot ? NOT_SLASH : without(ANY, '/.');
  }

  #move(from: number | undefined, set: CharSet, to: number): void {
    if (from !== undefined) this.#moveOn(from, this.#classes.mask(set), to);
  }

  #moveOn(from: number, on: Uint8Array, to: number | undefined): void {
    if (to !== undefined && on.includes(1)) this.states[from]?.moves.push({ on, to });
  }

  #within(on: Uint8Array, set: CharSet): Uint8Array {
    const mask = this.#classes.mask(set);
    return on.map((bit, index) => bit & (mask[index] ?? 0));
  }
}

interface Deterministic {
  readonly targets: readonly { readonly on: Uint8Array; readonly to: number }[];
  /** Has a 1 for each class of the next code unit, and for the end, before which the branches do not match. */
  readonly rejects: Uint8Array;
}

/** The sets of states that an automaton can be in, numbered in the order of their discovery. */
class Subsets {
  readonly #automaton: Automaton;
  readonly #known = new Map<string, number>();
  readonly #kernels: (readonly number[])[] = [];
  /** The number of visited states. */
  effort = 0;

  constructor(automaton: Automaton) {
    this.#automaton = automaton;
    this.#number([automaton.start]);
  }

  get count(): number {
    return this.#kernels.length;
  }

  explore(index: number): Deterministic {
    const { classes, final } = this.#automaton;
    const kernel = this.#kernels[index] ?? [];
    const targets = new Map<number, Uint8Array>();
    const rejects = new Uint8Array(classes.count + 1);
    for (let symbol = 0; symbol <= classes.count; symbol += 1) {
      const reached = closure(this.#automaton, kernel, symbol);
      this.effort += reached.length + 1;
      rejects[symbol] = reached.includes(final) ? 0 : 1;
      if (symbol === classes.count) break;
      const to = this.#number(step(this.#automaton, reached, symbol));
      const on = targets.get(to) ?? new Uint8Array(classes.count + 1);
      on[symbol] = 1;
      targets.set(to, on);
    }
    return { targets: [...targets].map(([to, on]) => ({ on, to })), rejects };
  }

  #number(kernel: readonly number[]): number {
    const key = kernel.join();
    const known = this.#known.get(key) ?? this.#kernels.push(kernel) - 1;
    this.#known.set(key, known);
    return known;
  }
}

/** Returns all states that jumps can reach when the next code unit has a class, or at the end of the text. */
export function closure({ states }: Automaton, kernel: readonly number[], symbol: number): readonly number[] {
  const reached = [...kernel];
  const seen = new Set(kernel);
  // The loop also visits the states that it adds.
  for (const state of reached) {
    for (const { when, to } of states[state]?.jumps ?? []) {
      if (seen.has(to) || when?.[symbol] === 0) continue;
      seen.add(to);
      reached.push(to);
    }
  }
  return reached;
}

/** Returns the states after a code unit of a class, in ascending order. */
export function step({ states }: Automaton, reached: readonly number[], symbol: number): readonly number[] {
  const next = new Set<number>();
  for (const state of reached) {
    for (const { on, to } of states[state]?.moves ?? []) if (on[symbol] === 1) next.add(to);
  }
  return [...next].sort((one, other) => one - other);
}

const without = (set: CharSet, chars: string): CharSet => invert([...invert(set), ...chars.split('').flatMap(single)]);

const isSlash = (set: CharSet): boolean =>
  set.length === 1 && set[0]?.[0] === SLASH[0]?.[0] && set[0]?.[1] === SLASH[0]?.[1];

const tooComplex = (): AppError =>
  new AppError(
    'invalid_input',
    `This glob needs an automaton of more than ${MAX_STATES} states. Use fewer or shorter groups, ranges and negations.`,
  );
