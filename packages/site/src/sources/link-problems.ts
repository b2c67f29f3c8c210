import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import type { RecordField } from '@trellis/core/record-types';
import type { RecordStore } from '../record-store.js';
import type { RecordTables, ValueLink } from '../records/record-schema.js';
import { formatSourcePath, type SiteProblem } from './problems.js';
import { isPathLink } from './site-sources.js';

export interface LinkProblemsOptions {
  readonly store: RecordStore;
  readonly tables: RecordTables;
  /** The folder to which the paths of problems are relative. */
  readonly directory: string;
  /** Called with the problems that were not there at the last time. */
  readonly report: (problems: readonly SiteProblem[]) => void;
}

/** The time between two searches, as a multiple of the last one, and at least. */
const REST = { factor: 50, leastMs: 1_000 };

/** The number of different values of a link that are listed. */
const MAX_VALUES = 100;

/**
 * Finds the values of `@link(to:)` in files that lead to no record: at first, and after changes of the records. Links to
 * files and folders are checked when their file is read.
 */
export class LinkProblems {
  readonly #options: LinkProblemsOptions;
  readonly #stop = new AbortController();
  #found: readonly SiteProblem[] = [];

  constructor(options: LinkProblemsOptions) {
    this.#options = options;
  }

  list(): readonly SiteProblem[] {
    return this.#found;
  }

  /** Checks all links once. Stops without an effect when it is closed. */
  async check(): Promise<void> {
    const { tables, report } = this.#options;
    const found: SiteProblem[] = [];
    for (const link of listValueLinks(tables)) found.push(...(await this.#findProblems(link)));
    if (this.#isClosed()) return;
    const known = new Set(this.#found.map(toKey));
    this.#found = found;
    const fresh = found.filter((problem) => !known.has(toKey(problem)));
    if (fresh.length > 0) report(fresh);
  }

  /** Checks the links after each change, until it is closed. */
  async follow(): Promise<void> {
    const { signal } = this.#stop;
    if (this.#isClosed()) return;
    let isFirst = true;
    for await (const change of this.#options.store.changes.follow()) {
      if (this.#isClosed()) return;
      // The first one says nothing but the revision.
      const startedAt = performance.now();
      if (!isFirst && change.kinds.length > 0) await this.check();
      isFirst = false;
      const rest = Math.max(REST.leastMs, (performance.now() - startedAt) * REST.factor);
      await sleep(rest, undefined, { signal, ref: false }).catch(() => undefined);
    }
  }

  close(): void {
    this.#stop.abort();
  }

  #isClosed(): boolean {
    return this.#stop.signal.aborted;
  }

  async #findProblems(link: ValueLink): Promise<SiteProblem[]> {
    const { store, tables } = this.#options;
    // The records of a type without files come from elsewhere, and may never have come.
    if (this.#isClosed() || (tables[link.target]?.source === undefined && store.countRecords()[link.target] === 0))
      return [];
    const found = new Map<string, { readonly position: number; count: number }>();
    let after: number | undefined = -1;
    while (after !== undefined) {
      const { values, last } = store.findUnlinked(link, after);
      for (const { value, position } of values) {
        const known = found.get(value);
        if (known) known.count += 1;
        else if (found.size < MAX_VALUES) found.set(value, { position, count: 1 });
      }
      after = last;
      await setImmediate();
      if (this.#isClosed()) return [];
    }
    return [...found].map(([value, { position, count }]) => {
      const links = count > 1 ? ` (${count.toLocaleString('en')} links)` : '';
      const reason = `links to an unknown ${link.target} in ${link.name}: ${link.to} ${JSON.stringify(value)}${links}.`;
      return { path: this.#findPath(link.kind, position), reason };
    });
  }

  #findPath(kind: string, position: number): string {
    const { store, directory } = this.#options;
    const parent = store.at(kind, ['parent'], position)?.parent;
    const columns = ['absolutePath', 'relativePath', 'sourceInstanceName'];
    const file = typeof parent === 'string' ? store.first('File', columns, { id: parent }) : undefined;
    if (!file) return kind;
    const [absolutePath, below, name] = columns.map((column) => String(file[column])) as [string, string, string];
    const source = { name, directory: absolutePath.slice(0, -below.length - 1), workingDirectory: directory };
    return formatSourcePath(source, below);
  }
}

const toKey = ({ path: shown, reason }: SiteProblem): string => `${shown} ${reason}`;

function listValueLinks(tables: RecordTables): readonly ValueLink[] {
  const find = (kind: string, field: RecordField): readonly ValueLink[] => {
    if (field.kind === 'object' && !field.list) return field.fields.flatMap((inner) => find(kind, inner));
    if (field.kind !== 'relation') return [];
    const { relation, list: isList, type: target, path: shown } = field;
    if (relation.by !== 'link' || tables[target] === undefined || isPathLink(field)) return [];
    return [{ name: `${kind}.${shown}`, kind, from: relation.from, isList, target, to: relation.to }];
  };
  return Object.values(tables)
    .filter(({ source }) => source !== undefined)
    .flatMap(({ kind, fields }) => fields.flatMap((field) => find(kind, field)));
}
