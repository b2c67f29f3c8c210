import { openSync, readSync } from 'node:fs';
import { AppError } from '@trellis/core/errors';

export interface BudgetLimits {
  /** The largest number of values in a response. */
  readonly values: number;
  /** The processor time that one operation may use, in milliseconds. */
  readonly workMs: number;
  /** The duration of one operation, waiting included, in milliseconds. */
  readonly timeoutMs: number;
  /** The names of the settings that raise the limits, for messages. */
  readonly settings?: Readonly<Record<'timeoutMs' | 'values' | 'workMs', string>>;
}

/** The processor time to add a value to the response. */
const MS_PER_VALUE = 0.001;

/** The allowed average length of a value with its name: paths have some 60 characters, numbers 5. */
const CHARACTERS_PER_VALUE = 64;

/** The share of the time limit, at most 1 s, that is left for the response after the longest wait of a field. */
const RESPONSE_SHARE = 0.1;

/** Smaller responses are not measured. */
const FEW_VALUES = 12_000;

/** After this much work, an operation lets others run before it continues. */
const TURN_MS = 50;

/**
 * A statement that checks the time is stopped after this long, and its filter is then evaluated in pieces. Other
 * requests wait at most about twice this time (`npm run bench -- patterns`).
 */
const STATEMENT_MS = 40;

/** Operations with much work take turns: the event loop runs once between two pieces. */
let lastTurn: Promise<void> = Promise.resolve();

const SMALLER = 'Request pages with limit and skip, or fewer fields.';

/**
 * The budget of one operation. Once a limit is exceeded, every check throws, and {@link refusal} is the first error.
 */
export class OperationBudget {
  readonly #limits: BudgetLimits;
  readonly #startedAt = performance.now();
  #values = 0;
  #workMs = 0;
  /** The wall-clock time for which this operation has blocked others. */
  #heldMs = 0;
  /** The processor time at which the current piece of work began. */
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

  /** The time for which a field may wait for something, so that the response is sent before the timeout. */
  get waitMs(): number {
    const { timeoutMs } = this.#limits;
    const endsAt = this.#startedAt + timeoutMs - Math.min(1000, timeoutMs * RESPONSE_SHARE);
    return Math.max(0, endsAt - performance.now());
  }

  /**
   * Counts values of the response.
   *
   * @throws AppError `too_large` above the limit.
   */
  spend(values: number): void {
    this.#values += values;
    this.#workMs += values * MS_PER_VALUE;
    if (this.#refusal || this.#values > this.#limits.values) throw this.#sizeError();
  }

  /**
   * Checks the time limits. Long pieces of {@link work} call it repeatedly.
   *
   * @throws AppError `unavailable` above a limit.
   */
  check(): void {
    const now = this.#workingSince === undefined ? 0 : readCpuMs() - this.#workingSince;
    if (this.#refusal || this.#workMs + now > this.#limits.workMs) throw this.#workError();
    if (performance.now() - this.#startedAt > this.#limits.timeoutMs) throw this.#timeError();
  }

  /**
   * Checks the length of the complete response before it is serialized, which blocks the event loop.
   *
   * @throws AppError `too_large`
   */
  assertResponseLength(answer: unknown): void {
    if (this.#values <= FEW_VALUES) return;
    const most = this.#limits.values * CHARACTERS_PER_VALUE;
    if (countCharacters(answer, most) <= most) return;
    this.#refusal = new AppError(
      'too_large',
      `The response has more than ${most} characters. ${SMALLER}${this.#advice('values')}`,
    );
    throw this.#refusal;
  }

  /** Runs a synchronous piece of work and counts its processor time. */
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

  /** Runs like {@link work}: at once for a short operation, after other requests for a long one. */
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

  /**
   * Waits for the result until the timeout; pending work then stops at its next check.
   *
   * @throws AppError `unavailable`
   */
  async untilTimeout<T>(result: Promise<T>): Promise<T> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => reject(this.#timeError()), this.#limits.timeoutMs);
    });
    return Promise.race([result, late]).finally(() => clearTimeout(timer));
  }

  /** Names the setting of a limit. */
  #advice(limit: 'timeoutMs' | 'values' | 'workMs'): string {
    const { settings } = this.#limits;
    return settings === undefined ? '' : ` ${settings[limit]} raises the limit.`;
  }

  #sizeError(): AppError {
    return (this.#refusal ??= new AppError(
      'too_large',
      `The response has more than ${this.#limits.values} values at this field. ${SMALLER}${this.#advice('values')}`,
    ));
  }

  #workError(): AppError {
    return (this.#refusal ??= new AppError(
      'unavailable',
      `The query exceeded its work limit of ${this.#limits.workMs} ms of processor time. Request fewer records or conditions.${this.#advice('workMs')}`,
    ));
  }

  /** The message contains the processor time, because a busy host or image jobs may cause most of the waiting. */
  #timeError(): AppError {
    const usedMs = Math.round(this.#workMs);
    return (this.#refusal ??= new AppError(
      'unavailable',
      `The query exceeded its time limit of ${this.#limits.timeoutMs} ms, after ${usedMs} ms of processor time. Request fewer records, or retry when the server is less busy.${this.#advice('timeoutMs')}`,
    ));
  }
}

/** Counts the characters of names and texts in a response; stops soon after `most`. */
function countCharacters(response: unknown, most: number): number {
  if (typeof response === 'string') return response.length;
  if (typeof response !== 'object' || response === null) return 1;
  let characters = 0;
  if (Array.isArray(response)) {
    for (const element of response) if (characters <= most) characters += countCharacters(element, most);
    return characters;
  }
  for (const [name, value] of Object.entries(response)) {
    if (characters <= most) characters += name.length + countCharacters(value, most);
  }
  return characters;
}

/**
 * The largest age of a value from the operating system, which takes 2 µs to read from `schedstat`. Until then the
 * thread is assumed to run all the time, which makes a call as cheap as `performance.now()` with a small error.
 */
const MAX_AGE_MS = 1;

let readAt = -Infinity;
let readMs = 0;
const readThreadMs = chooseClock();

/**
 * Returns the processor time of this thread in milliseconds. Unlike wall-clock time, it does not advance while other
 * processes have the processor, so a busy host does not make a query look expensive.
 */
export function readCpuMs(): number {
  const age = performance.now() - readAt;
  if (age < MAX_AGE_MS) return readMs + age;
  readMs = readThreadMs();
  readAt = performance.now();
  return readMs;
}

/**
 * Chooses the most accurate clock available. Node.js has one since 23.9. The clock of Linux advances at each tick of
 * the scheduler, about every 4 ms. The fallback is the processor time of the whole process, capped by the elapsed time;
 * it is too high while other threads, such as those for images, are busy.
 */
function chooseClock(): () => number {
  // The type definitions are those of the oldest supported Node.js.
  const { threadCpuUsage } = process as { threadCpuUsage?: () => NodeJS.CpuUsage };
  if (threadCpuUsage) return () => toMs(threadCpuUsage());
  return openSchedstat() ?? createProcessClock();
}

/** The first number of the file is the processor time of the thread in nanoseconds. */
function openSchedstat(): (() => number) | undefined {
  const buffer = Buffer.alloc(64);
  try {
    const file = openSync('/proc/thread-self/schedstat', 'r');
    const read = (): number => {
      const length = readSync(file, buffer, 0, buffer.length, 0);
      return Number.parseInt(buffer.toString('latin1', 0, length), 10) / 1e6;
    };
    return read() > 0 ? read : undefined;
  } catch {
    return undefined;
  }
}

function createProcessClock(): () => number {
  let last = { wall: performance.now(), process: readProcessMs(), thread: 0 };
  return () => {
    const now = { wall: performance.now(), process: readProcessMs() };
    last = { ...now, thread: last.thread + Math.min(now.wall - last.wall, now.process - last.process) };
    return last.thread;
  };
}

const readProcessMs = (): number => toMs(process.cpuUsage());

const toMs = ({ user, system }: NodeJS.CpuUsage): number => (user + system) / 1000;
