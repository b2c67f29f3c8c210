import { hash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { AppError } from '@trellis/core/errors';
import type { RecordField, RecordTable, ScalarCodecs } from '@trellis/core/record-types';
import prettyBytes from 'pretty-bytes';
import type { RecordStore } from '../record-store.js';
import type { RecordTables } from '../records/record-schema.js';
import { validateRecord } from './content/validate-record.js';
import { createIdGenerator, type RecordRow } from './file-records.js';
import { formatProblem, type SiteProblem } from './problems.js';
import { isPathLink } from './site-sources.js';

/** A change that a source reports: a record with its values by field, or the deletion of one. */
export type SourceChange<Values extends object> =
  | {
      /** Identifies the record within the source, at most 512 characters. */
      readonly id: string;
      readonly values: Values;
      readonly deleted?: never;
    }
  | { readonly id: string; readonly deleted: true; readonly values?: never };

/** The argument of a run of a source. */
export interface SourceRun {
  /** What the last successful run returned; `undefined` for the first run, and after a change of the schema. */
  readonly cursor: string | undefined;
  /** Aborted when the run takes too long or the server stops. Pass it to `fetch`. */
  readonly signal: AbortSignal;
  /**
   * Returns an environment variable, or the content of the file that `<name>_FILE` names.
   *
   * @throws Error if neither is set.
   */
  variable(name: string): string;
}

/** The changes that a run finds, and the cursor that it returns, if any. */
export type SourceChanges<Values extends object> =
  AsyncGenerator<SourceChange<Values>, string | undefined, void> | AsyncGenerator<SourceChange<Values>, void, void>;

/** A source of records in code: a module of the project that reads them from elsewhere. */
export interface SourceModule<Values extends object = object> {
  /** The record type of all its records, which must not have `@source`. */
  readonly type: string;
  /** The time between the end of a run and the start of the next, at least 1; absent to run only at the start. */
  readonly everySeconds?: number;
  /** The longest time of a run, at most 3600; by default 300. */
  readonly timeoutSeconds?: number;
  /** Change it when the same input gives other records, so that the next run starts without a cursor. */
  readonly version?: number | string;
  /**
   * Reads the records. Without a cursor, it reports all records, and those that it doesn't report are deleted. If it
   * returns a cursor, the next run receives it and reports changes only. The changes of a run become visible together,
   * when it ends; if it throws, none does.
   */
  read(run: SourceRun): SourceChanges<Values>;
}

/** Describes a source of records, with its values checked by the compiler. */
export const defineSource = <Values extends object>(source: SourceModule<Values>): SourceModule<Values> => source;

/** The sources of a project by name. */
export type SourceModules = Readonly<Record<string, SourceModule>>;

/** As many as a file of content may have. */
const MAX_RECORDS = 100_000;

/** The JSON of all values of a run, which is in memory until it ends. */
const MAX_BYTES = 64 * 1024 ** 2;

const MAX_ID = 512;
const MAX_CURSOR = 64 * 1024;
const DEFAULT_TIMEOUT_SECONDS = 300;
const MAX_TIMEOUT_SECONDS = 3600;

/** The pauses after failures: this one, doubled each time, up to the longest. */
const FIRST_RETRY_SECONDS = 5;
const LONGEST_RETRY_SECONDS = 900;

/** The number of problems that are reported per source, so that one does not hide the problems of others. */
const MAX_PROBLEMS = 20;

/** The maximum time that the thread is blocked, so that requests can be handled in between. */
const SLICE_MS = 12;

/** Node's timers fire at once for longer delays. */
const MAX_TIMER_MS = 2 ** 31 - 1;

export interface RunningSourcesOptions {
  readonly modules: SourceModules;
  readonly store: RecordStore;
  readonly tables: RecordTables;
  readonly codecs?: ScalarCodecs;
  /** Returns a variable of the environment, for {@link SourceRun.variable}. */
  readonly variable: (name: string) => string;
  /** Called with sentences: new problems, and a failure when it first occurs. */
  readonly onProblem?: (message: string) => void;
  /** Called when a run has changed records. */
  readonly onChange?: (change: SourceRunResult) => void;
}

export interface SourceRunResult {
  readonly source: string;
  readonly written: number;
  readonly deleted: number;
  readonly milliseconds: number;
}

/** The sources of a project while they run. */
export interface RunningSources {
  /** Settles when each source has run once, successfully or not. */
  readonly firstRuns: Promise<void>;
  problems(): SiteProblem[];
  close(): Promise<void>;
}

/**
 * Deletes the records of sources that the project no longer has, and starts to run the others: each at once, and then
 * on its own schedule. A failing source keeps its records, is reported, and is tried again at growing intervals.
 *
 * @throws AppError `invalid_input` for a source whose description is invalid.
 */
export function runSources(options: RunningSourcesOptions): RunningSources {
  const memory = new SourceMemory(options.store);
  const all = Object.entries(options.modules).map(([name, module]) => {
    checkModule(name, module, options);
    return new RunningSource(name, module, memory, options);
  });
  memory.deleteObsolete(options);
  const firstRuns = Promise.all(all.map((source) => source.run())).then(() => undefined);
  return {
    firstRuns,
    problems: () => all.flatMap(({ problems }) => problems),
    close: async () => void (await Promise.all(all.map((source) => source.close()))),
  };
}

/** Marks the record types of sources in code as read from a source, so that their nulls are told from missing values. */
export function markSourceTypes(tables: RecordTables, modules: SourceModules): RecordTables {
  const types = new Set(Object.values(modules).map(({ type }) => type));
  const mark = (table: RecordTable): RecordTable => (types.has(table.kind) ? { source: NO_FILES, ...table } : table);
  return Object.fromEntries(Object.entries(tables).map(([kind, table]) => [kind, mark(table)]));
}

const NO_FILES: RecordTable['source'] = { globs: [] };

function checkModule(name: string, module: SourceModule, { modules, tables }: RunningSourcesOptions): void {
  const { type, everySeconds = 1, timeoutSeconds = 1 } = module;
  const refuse = (message: string): never => {
    throw new AppError('invalid_input', `The source ${name}: ${message}`);
  };
  if (typeof module.read !== 'function') refuse('expected a default export with a function `read`.');
  const table = tables[type];
  if (table === undefined) refuse(`expected \`type\` to name a record type; received ${JSON.stringify(type)}.`);
  if (table?.source) refuse(`expected a record type without @source; ${type} has records from files.`);
  const other = Object.keys(modules).find((one) => one !== name && modules[one]?.type === type);
  if (other !== undefined) refuse(`expected a record type of its own; the source ${other} has ${type} too.`);
  if (!(everySeconds >= 1)) refuse(`expected everySeconds of at least 1; received ${everySeconds}.`);
  if (!(timeoutSeconds > 0 && timeoutSeconds <= MAX_TIMEOUT_SECONDS))
    refuse(`expected timeoutSeconds between 0 and ${MAX_TIMEOUT_SECONDS}; received ${timeoutSeconds}.`);
}

interface StoredSource {
  readonly type: string;
  /** Differs when the records of the same input do. */
  readonly version: string;
  readonly cursor?: string;
}

/** The stored state of sources, beside their records. */
class SourceMemory {
  readonly #store: RecordStore;
  readonly #sources: Map<string, StoredSource>;

  constructor(store: RecordStore) {
    this.#store = store;
    this.#sources = new Map(Object.entries(JSON.parse(store.meta(SOURCES) ?? '{}') as Record<string, StoredSource>));
  }

  cursorOf(name: string, { type, version }: StoredSource): string | undefined {
    const stored = this.#sources.get(name);
    return stored?.type === type && stored.version === version ? stored.cursor : undefined;
  }

  /** Returns the text to store in the transaction that stores the records; {@link keep} follows its commit. */
  withSource(name: string, source: StoredSource): string {
    return JSON.stringify(Object.fromEntries([...this.#sources, [name, source]]));
  }

  keep(name: string, source: StoredSource): void {
    this.#sources.set(name, source);
  }

  deleteObsolete({ modules, tables }: Pick<RunningSourcesOptions, 'modules' | 'tables'>): void {
    const types = new Set(Object.values(modules).map(({ type }) => type));
    const obsolete = [...this.#sources].filter(([name, { type }]) => modules[name]?.type !== type);
    if (obsolete.length === 0) return;
    for (const [name] of obsolete) this.#sources.delete(name);
    const unused = obsolete.map(([, { type }]) => type).filter((type) => tables[type] && !types.has(type));
    const known = unused.map((type) => [type, listIds(this.#store, type)] as const);
    this.#store.write((rows) => {
      for (const [type, ids] of known) for (const id of ids) rows.remove(type, id);
      rows.setMeta(SOURCES, JSON.stringify(Object.fromEntries(this.#sources)));
    });
  }
}

const SOURCES = 'sources.modules';

const listIds = (store: RecordStore, type: string): string[] =>
  [...store.rows(type, ['id'])].map(({ id }) => String(id));

/** What one run found, in the order of its first report. */
interface Found {
  readonly rows: ReadonlyMap<string, RecordRow>;
  readonly deleted: ReadonlySet<string>;
  readonly problems: readonly SiteProblem[];
  readonly cursor: string | undefined;
  /** Whether records that were not reported are deleted. */
  readonly isComplete: boolean;
}

class RunningSource {
  problems: readonly SiteProblem[] = [];
  readonly #name: string;
  readonly #module: SourceModule;
  readonly #fields: readonly RecordField[];
  readonly #memory: SourceMemory;
  readonly #options: RunningSourcesOptions;
  readonly #stop = new AbortController();
  readonly #toId: (text: string) => string;
  #failures = 0;
  #timer: NodeJS.Timeout | undefined;
  #current: Promise<void> = Promise.resolve();

  constructor(name: string, module: SourceModule, memory: SourceMemory, options: RunningSourcesOptions) {
    this.#name = name;
    this.#module = module;
    this.#fields = options.tables[module.type]?.fields ?? [];
    this.#memory = memory;
    this.#options = options;
    this.#toId = createIdGenerator(`trellis-source-${name}`);
  }

  run(): Promise<void> {
    this.#current = this.#runOnce();
    return this.#current;
  }

  close(): Promise<void> {
    this.#stop.abort();
    clearTimeout(this.#timer);
    return this.#current;
  }

  async #runOnce(): Promise<void> {
    const started = performance.now();
    try {
      const found = await this.#read();
      if (this.#stop.signal.aborted) return;
      const changes = this.#write(found);
      this.#failures = 0;
      this.#report(found.problems);
      const milliseconds = performance.now() - started;
      if (changes.written + changes.deleted > 0)
        this.#options.onChange?.({ source: this.#name, ...changes, milliseconds });
    } catch (error) {
      if (this.#stop.signal.aborted) return;
      this.#failures += 1;
      this.#report([{ path: this.#label, reason: `failed; its records stay as they were. ${toMessage(error)}` }]);
    }
    this.#schedule();
  }

  get #label(): string {
    return `The source ${this.#name}`;
  }

  #schedule(): void {
    const { everySeconds } = this.#module;
    const retry = Math.min(FIRST_RETRY_SECONDS * 2 ** (this.#failures - 1), LONGEST_RETRY_SECONDS);
    const seconds = this.#failures === 0 ? everySeconds : Math.min(retry, everySeconds ?? Infinity);
    if (seconds === undefined || this.#stop.signal.aborted) return;
    this.#timer = setTimeout(() => void this.run(), Math.min(seconds * 1000, MAX_TIMER_MS)).unref();
  }

  /** Reports the problems that the last run did not have. */
  #report(problems: readonly SiteProblem[]): void {
    const before = new Set(this.problems.map(formatProblem));
    this.problems = problems;
    for (const line of problems.map(formatProblem)) if (!before.has(line)) this.#options.onProblem?.(line);
  }

  async #read(): Promise<Found> {
    const { timeoutSeconds = DEFAULT_TIMEOUT_SECONDS } = this.#module;
    const late = new AbortController();
    const timer = setTimeout(
      () => late.abort(new Error(`It took more than ${timeoutSeconds} seconds.`)),
      timeoutSeconds * 1000,
    );
    const signal = AbortSignal.any([this.#stop.signal, late.signal]);
    try {
      // A source that ignores the signal must not block its next run for ever.
      return await Promise.race([this.#collect(signal), rejectWhenAborted(signal)]);
    } finally {
      clearTimeout(timer);
    }
  }

  async #collect(signal: AbortSignal): Promise<Found> {
    const cursor = this.#memory.cursorOf(this.#name, this.#stored);
    const rows = new Map<string, RecordRow>();
    const deleted = new Set<string>();
    const problems = new ProblemList();
    const changes = this.#module.read({ cursor, signal, variable: this.#options.variable });
    signal.addEventListener('abort', () => void changes.return(undefined).catch(() => undefined), { once: true });
    let bytes = 0;
    let since = performance.now();
    for (;;) {
      const next = await changes.next();
      signal.throwIfAborted();
      if (next.done)
        return {
          rows,
          deleted,
          problems: problems.list(this.#label),
          cursor: toCursor(next.value),
          isComplete: cursor === undefined,
        };
      const change: unknown = next.value;
      assertChange(change);
      const id = this.#toId(change.id);
      rows.delete(id);
      deleted.delete(id);
      if (change.deleted) deleted.add(id);
      else {
        const json = JSON.stringify(change.values);
        bytes += json.length;
        const row = this.#toRow(id, change.id, JSON.parse(json) as Record<string, unknown>, problems);
        if (row) rows.set(id, row);
        else if (cursor !== undefined) deleted.add(id);
      }
      if (bytes > MAX_BYTES) throw new Error(`expected at most ${prettyBytes(MAX_BYTES)} in one run.`);
      if (rows.size + deleted.size > MAX_RECORDS)
        throw new Error(`expected at most ${MAX_RECORDS} records in one run.`);
      if (performance.now() - since < SLICE_MS) continue;
      await setImmediate();
      since = performance.now();
    }
  }

  #toRow(id: string, given: string, values: Record<string, unknown>, problems: ProblemList): RecordRow | undefined {
    const { type } = this.#module;
    const { row, misfits } = validateRecord(
      this.#fields,
      { values, body: undefined, textOnly: false },
      // A path has no folder to which it could be relative.
      { codecs: this.#options.codecs ?? {}, toLinkKey: (field, text) => (isPathLink(field) ? undefined : text) },
    );
    const where = `${this.#label}, record ${JSON.stringify(given.slice(0, 80))}:`;
    for (const { message } of misfits) problems.add(where, `${type}.${message}`);
    if (row === undefined) {
      problems.add(where, `left out, because a required value of ${type} is missing or invalid.`);
      return undefined;
    }
    return {
      ...row,
      id,
      'internal.type': type,
      'internal.owner': this.#name,
      'internal.contentDigest': hash('md5', JSON.stringify(row)),
    };
  }

  get #stored(): StoredSource {
    const { type, version = '' } = this.#module;
    return { type, version: String(version) };
  }

  /** Writes the differing records in one transaction, with the cursor. */
  #write({ rows, deleted, cursor, isComplete }: Found): Pick<SourceRunResult, 'deleted' | 'written'> {
    const { store } = this.#options;
    const { type } = this.#module;
    const known = new Map([...store.rows(type, ['id', 'internal.contentDigest'])].map((row) => [String(row.id), row]));
    const gone = isComplete
      ? [...known.keys()].filter((id) => !rows.has(id))
      : [...deleted].filter((id) => known.has(id));
    const last = Number([...known.values()].at(-1)?.position ?? 0);
    let next = isComplete ? 1 : last + 1;
    const writes = [...rows].flatMap(([id, row]) => {
      const stored = known.get(id);
      const position = stored && !isComplete ? Number(stored.position) : next++;
      const isSame = stored?.['internal.contentDigest'] === row['internal.contentDigest'];
      return isSame && stored?.position === position ? [] : [{ row, position }];
    });
    const after: StoredSource = { ...this.#stored, ...(cursor !== undefined && { cursor }) };
    const meta = this.#memory.withSource(this.#name, after);
    if (gone.length + writes.length > 0 || store.meta(SOURCES) !== meta) {
      store.write((writer) => {
        for (const id of gone) writer.remove(type, id);
        // A record that moves must leave its position before a different one takes it.
        for (const { row } of writes) if (known.has(String(row.id))) writer.remove(type, String(row.id));
        for (const { row, position } of writes) writer.put(type, row, position);
        writer.setMeta(SOURCES, meta);
      });
    }
    this.#memory.keep(this.#name, after);
    return { written: writes.length, deleted: gone.length };
  }
}

/** The first problems of a run, and the number of further ones. */
class ProblemList {
  readonly #first: SiteProblem[] = [];
  #count = 0;

  add(path: string, reason: string): void {
    this.#count += 1;
    if (this.#first.length < MAX_PROBLEMS) this.#first.push({ path, reason });
  }

  /** @param path What stands before the number of further problems. */
  list(path: string): SiteProblem[] {
    const more = this.#count - this.#first.length;
    if (more === 0) return this.#first;
    return [...this.#first, { path, reason: `has ${more.toLocaleString('en')} further problems.` }];
  }
}

function assertChange(change: unknown): asserts change is SourceChange<object> {
  const { id, values, deleted } = (change ?? {}) as Record<string, unknown>;
  if (typeof id !== 'string' || id === '' || id.length > MAX_ID)
    throw new Error(
      `expected each change to have an \`id\` of 1 to ${MAX_ID} characters; received ${id === undefined ? 'none' : JSON.stringify(id)}.`,
    );
  const isObject = typeof values === 'object' && values !== null && !Array.isArray(values);
  if (deleted !== true && !isObject)
    throw new Error(`expected \`values\` or \`deleted: true\` in the change of ${JSON.stringify(id)}.`);
}

function toCursor(value: unknown): string | undefined {
  if (value === undefined) return undefined;
  if (typeof value !== 'string' || value.length > MAX_CURSOR)
    throw new Error(`expected a cursor of at most ${MAX_CURSOR} characters of text.`);
  return value;
}

function rejectWhenAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    const onAbort = (): void => reject(signal.reason as Error);
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
  });
}

/** The cause says why a `fetch` failed. */
function toMessage(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause instanceof Error ? ` (${error.cause.message})` : '';
  const text = `${error.message}${cause}`.slice(0, 500);
  return /[.!?)]$/u.test(text) ? text : `${text}.`;
}
