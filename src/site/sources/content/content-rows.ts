import { hash } from 'node:crypto';
import path from 'node:path';

import type { RecordTable } from '../../fields.js';
import { showPath } from '../../problems.js';
import type { SiteProblem } from '../../problems.js';
import type { Row } from '../file-record.js';
import { toFileId } from '../file-record.js';
import { idsOf } from '../ids.js';
import type { SiteSource } from '../site-source.js';
import { isPathLink } from './content-kinds.js';
import type { FileNote } from './content-notes.js';
import { fitRecord } from './fit-record.js';
import type { FitOptions } from './fit-record.js';
import type { FindTarget } from './link-targets.js';
import { readContentFile } from './read-content-file.js';
import type { ContentEntry } from './read-entries.js';
import { ContentError } from './read-entries.js';

/** The records of one file. */
export interface ContentRows {
  readonly rows: readonly ContentRow[];
  readonly note: FileNote;
}

export interface ContentRow {
  readonly kind: string;
  /** Its place in the file, from 0. */
  readonly index: number;
  readonly row: Row;
}

export interface ContentFile {
  readonly source: SiteSource;
  /** Below the source. */
  readonly relativePath: string;
  readonly kinds: readonly RecordTable[];
}

const OWNER = 'trellis-content';
const toContentId = idsOf(OWNER);

/** What a report of one file shows; more of the same would hide the others. */
const MAX_PROBLEMS = 20;

/** The id of a record, by the file that it is written in and its place there. */
export function contentId(fileId: string, kind: string, index: number): string {
  return toContentId(`${fileId} >> ${kind} ${index}`);
}

/** Reads a file's records, held to its kinds; none when it has gone. What can't be read at all is a problem of it. */
export async function readContentRows(file: ContentFile, findTarget: FindTarget): Promise<ContentRows> {
  const reader = new FileReader(file, findTarget);
  try {
    const entries = await readContentFile(path.posix.join(file.source.root, file.relativePath));
    return reader.read(entries ?? []);
  } catch (error) {
    if (!(error instanceof ContentError)) throw error;
    reader.report(error.line, error.message);
    return reader.read([]);
  }
}

class FileReader {
  readonly #file: ContentFile;
  readonly #fileId: string;
  readonly #fit: FitOptions;
  readonly #links = new Set<string>();
  readonly #problems: SiteProblem[] = [];
  #problemCount = 0;

  constructor(file: ContentFile, findTarget: FindTarget) {
    this.#file = file;
    this.#fileId = toFileId(path.posix.join(file.source.directory, file.relativePath));
    this.#fit = {
      toLinkKey: (field, text) => {
        if (!isPathLink(field)) return text;
        const { id, tried } = findTarget(file, field.type, text);
        for (const candidate of tried) this.#links.add(candidate);
        return id;
      },
    };
  }

  read(entries: readonly ContentEntry[]): ContentRows {
    const rows = this.#file.kinds.flatMap((table) =>
      entries.flatMap((entry, index) => this.#readRow(table, entry, index) ?? []),
    );
    const note = {
      records: entries.length,
      links: [...this.#links],
      problems: this.#problems,
      problemCount: this.#problemCount,
    };
    return { rows, note };
  }

  #readRow(table: RecordTable, entry: ContentEntry, index: number): ContentRow | undefined {
    const { kind } = table;
    const { row, misfits } = fitRecord(table.fields, entry, this.#fit);
    for (const { line, message } of misfits) this.report(line, `${kind}.${message}`);
    if (row === undefined) {
      this.report(entry.lineOf([]), `${kind}: left out, for a value that it must have.`);
      return undefined;
    }
    const own = {
      id: contentId(this.#fileId, kind, index),
      parent: this.#fileId,
      'internal.type': kind,
      'internal.owner': OWNER,
      'internal.contentDigest': hash('md5', JSON.stringify(row)),
    };
    return { kind, index, row: { ...row, ...own } };
  }

  report(line: number, message: string): void {
    this.#problemCount += 1;
    if (this.#problems.length === MAX_PROBLEMS) return;
    const { source, relativePath } = this.#file;
    this.#problems.push({ path: showPath(source, relativePath), line, reason: message });
  }
}
