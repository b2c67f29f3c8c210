import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { SqlValue } from '@trellis/site/records/sql';
import { openSite, type Site, type SiteOptions } from '@trellis/site/site';
import type { ProblemReport } from '@trellis/site/sources/problems';
import { records } from '../../../src/generated/site/records.js';

/** A site folder and a state folder for one test, with access to its records. */
export class SiteFolder {
  readonly base = realpathSync(mkdtempSync(path.join(tmpdir(), 'trellis-site-')));
  readonly directory = path.join(this.base, 'content');
  readonly stateDirectory = path.join(this.base, 'state');

  constructor(files: readonly string[] = []) {
    mkdirSync(this.directory);
    for (const file of files) this.put(file);
  }

  path(relativePath: string): string {
    return path.join(this.directory, relativePath);
  }

  put(relativePath: string, content = relativePath): void {
    mkdirSync(path.dirname(this.path(relativePath)), { recursive: true });
    writeFileSync(this.path(relativePath), content);
  }

  open(options: Partial<SiteOptions> = {}): Promise<Site> {
    const { directory, stateDirectory } = this;
    return openSite({ directory, stateDirectory, tables: records, workingDirectory: this.base, ...options });
  }

  /** Opens the site, reads it and closes it. */
  async scan(options: Partial<SiteOptions> = {}): Promise<ScannedSite> {
    const site = await this.open(options);
    try {
      return {
        summary: site.summary,
        problems: site.problems(),
        files: rowsOf(site, 'File'),
        directories: rowsOf(site, 'Directory'),
        images: rowsOf(site, 'ImageProc'),
      };
    } finally {
      site.close();
    }
  }

  remove(): void {
    // Unlike the removal of Node.js, rm also handles paths that are too long to open.
    execFileSync('rm', ['-rf', this.base]);
  }
}

export type Row = Readonly<Record<string, SqlValue>>;

export interface ScannedSite {
  readonly summary: Site['summary'];
  readonly problems: ProblemReport;
  readonly files: readonly Row[];
  readonly directories: readonly Row[];
  readonly images: readonly Row[];
}

export function rowsOf(site: Site, kind: keyof typeof records): Row[] {
  const columns = new Set(records[kind].fields.flatMap(columnNames));
  return [...site.store.rows(kind, ['id', 'parent', ...columns].filter(unique))];
}

function columnNames(field: (typeof records)['File']['fields'][number]): string[] {
  if (field.kind === 'scalar') return [field.column];
  return field.kind === 'object' && !field.list ? field.fields.flatMap(columnNames) : [];
}

function unique(name: string, index: number, names: readonly string[]): boolean {
  return names.indexOf(name) === index;
}

export const pathsOf = (rows: readonly Row[]): string[] => rows.map(({ relativePath }) => String(relativePath));
