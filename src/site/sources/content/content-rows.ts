import { hash } from 'node:crypto';
import path from 'node:path';
import { setImmediate } from 'node:timers/promises';

import type { RecordTable } from '../../fields.js';
import { showPath } from '../../problems.js';
import type { SiteProblem } from '../../problems.js';
import type { Row } from '../file-record.js';
import { toFileId } from '../file-record.js';
import { idsOf } from '../ids.js';
import type { SiteSource } from '../site-source.js';
import { isPathLink } from './content-kinds.js';
import type { FileNote } from './content-notes.js';
import type { ContentParser, ContentPlace, ParsedContent, ParsedEntry } from './content-parser.js';
import { fitRecord } from './fit-record.js';
import type { FitOptions } from './fit-record.js';
import type { FindTarget } from './link-targets.js';
import { readContentFile } from './read-content-file.js';
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
export async function readContentRows(file: ContentFile, { findTarget, parser }: ContentReading): Promise<ContentRows> {
  const reader = new FileReader(file, findTarget);
  try {
    const content = await readContentFile(path.posix.join(file.source.root, file.relativePath), parser);
    return await reader.read(content ?? NO_CONTENT);
  } catch (error) {
    const { message, line } = toContentError(error);
    return new FileReader(file, findTarget).fail(line, message);
  }
}

/** A value that is nested too deeply for the stack is a mistake of the file too. */
function toContentError(error: unknown): ContentError {
  if (error instanceof RangeError) return new ContentError('its values are nested too deeply.', 1);
  if (error instanceof ContentError) return error;
  throw error;
}

export interface ContentReading {
  readonly findTarget: FindTarget;
  readonly parser: ContentParser;
}

const NO_CONTENT: ParsedContent = { entries: [], locate: async () => [] };

/** How long the thread is held: short enough for a request to be answered meanwhile. */
const SLICE_MS = 12;

class FileReader {
  readonly #file: ContentFile;
  readonly #fileId: string;
  readonly #fit: FitOptions;
  readonly #links = new Set<string>();
  /** The first ones. */
  readonly #misfits: { readonly place: ContentPlace; readonly message: string }[] = [];
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

  async read({ entries, locate }: ParsedContent): Promise<ContentRows> {
    const rows: ContentRow[] = [];
    let since = performance.now();
    for (const table of this.#file.kinds) {
      for (const [index, entry] of entries.entries()) {
        const row = this.#readRow(table, entry, index);
        if (row) rows.push(row);
        if (performance.now() - since < SLICE_MS) continue;
        await setImmediate();
        since = performance.now();
      }
    }
    const lines = await locate(this.#misfits.map(({ place }) => place));
    const problems = this.#misfits.map(({ message }, index) => this.#toProblem(lines[index] ?? 1, message));
    return { rows, note: this.#toNote(entries.length, problems) };
  }

  /** The file has no records, for one reason. */
  fail(line: number, message: string): ContentRows {
    this.#problemCount = 1;
    return { rows: [], note: this.#toNote(0, [this.#toProblem(line, message)]) };
  }

  #toNote(records: number, problems: readonly SiteProblem[]): FileNote {
    return { records, links: [...this.#links], problems, problemCount: this.#problemCount };
  }

  #readRow(table: RecordTable, entry: ParsedEntry, index: number): ContentRow | undefined {
    const { kind } = table;
    const { row, misfits } = fitRecord(table.fields, entry, this.#fit);
    for (const { at, message } of misfits) this.#report({ entry: index, path: at }, `${kind}.${message}`);
    if (row === undefined) {
      this.#report({ entry: index, path: [] }, `${kind}: left out, for a value that it must have.`);
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

  #report(place: ContentPlace, message: string): void {
    this.#problemCount += 1;
    if (this.#misfits.length < MAX_PROBLEMS) this.#misfits.push({ place, message });
  }

  #toProblem(line: number, reason: string): SiteProblem {
    const { source, relativePath } = this.#file;
    return { path: showPath(source, relativePath), line, reason };
  }
}
