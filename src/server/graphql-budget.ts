import { AppError } from '../errors.js';
import { readCpuMs } from './cpu-clock.js';

export interface BudgetLimits {
  /** How many values an answer may hold. */
  readonly values: number;
  /** How much processor time one operation may use, in milliseconds. */
  readonly workMs: number;
  /** How long one operation may take, with all that it waits for, in milliseconds. */
  readonly timeoutMs: number;
}

/** What putting a value into the answer takes: a thousandth of a millisecond. */
const MS_PER_VALUE = 0.001;

/** The length of a value's text and name together, on average over an answer: paths have some 60, numbers 5. */
const CHARACTERS_PER_VALUE = 64;

/** Up to here an answer is not worth measuring. */
const FEW_VALUES = 12_000;

/** After so much work of one operation, others get their turn before it goes on. */
const TURN_MS = 50;

/**
 * A statement that looks at the time is stopped after so long, and its filter is evaluated in pieces. Other requests
 * wait at most for about twice this time (`npm run bench -- patterns`).
 */
const STATEMENT_MS = 40;

/** Operations with much work take turns: the event loop runs once between two pieces. */
let lastTurn: Promise<void> = Promise.resolve();

const SMALLER = 'Ask for pages, by limit and skip, or for fewer fields.';

/**
 * What one operation may still use. Past a limit it throws, and goes on
 * throwing; {@link refusal} keeps what it threw first.
 */
export class OperationBudget {
  readonly #limits: BudgetLimits;
  readonly #startedAt = performance.now();
  #values = 0;
  #workMs = 0;
  /** How long others have waited for this operation, on the clock. */
  #heldMs = 0;
  /** The processor time at which the piece of work began that is being done. */
  #workingSince: number | undefined;
  readonly statementMs = STATEMENT_MS;
  #refusal: AppError | undefined;

  constructor(limits: BudgetLimits) {
    this.#limits = limits;
  }

  get refusal(): AppError | undefined {
    return this.#refusal;
  }

  get isOver(): boolean {
    return this.#refusal !== undefined;
  }

  /** @throws AppError `too_large` when the answer gets larger than it may be. */
  spend(values: number): void {
    this.#values += values;
    this.#workMs += values * MS_PER_VALUE;
    if (this.#refusal || this.#values > this.#limits.values) throw this.#refuseSize();
  }

  /** @throws AppError `unavailable` when the time is over. To be called now and then during {@link work}. */
  check(): void {
    const now = this.#workingSince === undefined ? 0 : readCpuMs() - this.#workingSince;
    if (this.#refusal || this.#workMs + now > this.#limits.workMs) throw this.#refuseWork();
    if (performance.now() - this.#startedAt > this.#limits.timeoutMs) throw this.#refuseTime();
  }

  /**
   * To be called with what has been answered, before it is written.
   *
   * @throws AppError `too_large` when its text is too long to be written in a moment.
   */
  requireShort(answer: unknown): void {
    if (this.#values <= FEW_VALUES) return;
    const most = this.#limits.values * CHARACTERS_PER_VALUE;
    if (countCharacters(answer, most) <= most) return;
    this.#refusal = new AppError(
      'too_large',
      `The response has more than ${most} characters. ${SMALLER} TRELLIS_QUERY_VALUES raises the limit.`,
    );
    throw this.#refusal;
  }

  /** Does a piece of work that keeps the process busy, and counts its time. */
  work<T>(piece: () => T): T {
    if (this.#workingSince !== undefined) return piece();
    this.check();
    const since = readCpuMs();
    this.#workingSince = since;
    try {
      return piece();
    } finally {
      this.#workingSince = undefined;
      this.#workMs += Math.max(0, readCpuMs() - since);
    }
  }

  /** As {@link work}, at once for a short operation; a long one lets others go first. */
  workInTurn<T>(piece: () => T): T | Promise<T> {
    return this.#heldMs < TURN_MS ? this.#hold(piece) : this.nextTurn().then(() => this.#hold(piece));
  }

  #hold<T>(piece: () => T): T {
    const startedAt = performance.now();
    try {
      return this.work(piece);
    } finally {
      this.#heldMs += performance.now() - startedAt;
    }
  }

  nextTurn(): Promise<void> {
    lastTurn = lastTurn.then(() => new Promise<void>((resolve) => setImmediate(resolve)));
    return lastTurn;
  }

  /** @throws AppError `unavailable` when the result does not come in time. What still runs stops at its next check. */
  async untilTimeout<T>(result: Promise<T>): Promise<T> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => reject(this.#refuseTime()), this.#limits.timeoutMs);
    });
    return Promise.race([result, late]).finally(() => clearTimeout(timer));
  }

  #refuseSize(): AppError {
    return (this.#refusal ??= new AppError(
      'too_large',
      `The response has more than ${this.#limits.values} values at this field. ${SMALLER} TRELLIS_QUERY_VALUES raises the limit.`,
    ));
  }

  #refuseWork(): AppError {
    return (this.#refusal ??= new AppError(
      'unavailable',
      `This query needs more than ${this.#limits.workMs} ms of processor time. Ask for less at once, or filter by fewer conditions. TRELLIS_QUERY_WORK_MS raises the limit.`,
    ));
  }

  /** Most of the time is spent waiting when the host is busy, or others make images. */
  #refuseTime(): AppError {
    const usedMs = Math.round(this.#workMs);
    return (this.#refusal ??= new AppError(
      'unavailable',
      `This query took longer than ${this.#limits.timeoutMs} ms, of which it used ${usedMs} ms of processor time. Ask for less at once, or try again when the server is less busy. TRELLIS_QUERY_TIMEOUT_MS raises the limit.`,
    ));
  }
}

/** The characters of an answer's names and texts; stops counting soon after `most`. */
function countCharacters(answer: unknown, most: number): number {
  if (typeof answer === 'string') return answer.length;
  if (typeof answer !== 'object' || answer === null) return 1;
  let characters = 0;
  if (Array.isArray(answer)) {
    for (const element of answer) if (characters <= most) characters += countCharacters(element, most);
    return characters;
  }
  for (const [name, value] of Object.entries(answer)) {
    if (characters <= most) characters += name.length + countCharacters(value, most);
  }
  return characters;
}
