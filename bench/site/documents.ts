import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { build } from '../child.js';
import { alternate, median } from '../rounds.js';
import { ask, startServer } from '../server.js';
import { toTable } from '../table.js';
import { benchFolder } from './scan.js';

export interface DocumentBenchOptions {
  readonly files: number;
  readonly folders: number;
  readonly rounds: number;
  /** The number of requests of each kind in a round. */
  readonly requests: number;
}

/** Documents of a different length; the number makes a document one that the server has never seen. */
const DOCUMENTS: Readonly<Record<string, (number: number) => string>> = {
  short: (number) => `query Q${number}($e: String) {
    allFile(filter: { extension: { eq: $e } }, limit: 10) { totalCount nodes { a${number}: relativePath } } }`,
  list: (number) => `query Q${number}($e: String) {
    allFile(filter: { extension: { eq: $e } }, limit: 1000) {
      nodes { a${number}: relativePath name extension size birthTime modifiedTime absolutePath relativeDirectory } } }`,
  'page with groups': (number) => `query Q${number}($e: String) {
    allFile(filter: { extension: { eq: $e } }, sort: { fields: [modifiedTime], order: DESC }, limit: 20) {
      totalCount pageInfo { hasNextPage } group(field: extension) { fieldValue totalCount }
      edges { next { name } previous { name }
        node { a${number}: relativePath name extension size birthTime modifiedTime internal { contentDigest type } } } } }`,
};

/** Measures what a document costs that the server has not seen before, beside one that it knows, with new variables each time. */
export async function benchDocuments({ rounds, requests, ...folder }: DocumentBenchOptions): Promise<string> {
  build();
  const site = benchFolder(folder);
  const state = mkdtempSync(path.join(tmpdir(), 'trellis-bench-documents-'));
  const server = await startServer(['dist/cli.js', 'serve', '--site', site], {
    TRELLIS_STATE: state,
    TRELLIS_WATCH: 'false',
    TRELLIS_IMAGE_PREVIEWS: 'false',
  });
  let number = 0;
  const send = (toDocument: (number: number) => string, isNew: boolean) => async (): Promise<number> => {
    const times: number[] = [];
    for (let sent = 0; sent < requests; sent += 1) {
      number += 1;
      const startedAt = performance.now();
      // No file has this extension, so that the document is all of the work.
      await ask(server.origin, toDocument(isNew ? number : 0), { e: `none-${number}` });
      times.push(performance.now() - startedAt);
    }
    return median(times);
  };
  try {
    const rows: string[][] = [];
    for (const [name, toDocument] of Object.entries(DOCUMENTS)) {
      const contenders = { known: send(toDocument, false), unknown: send(toDocument, true) };
      for (const warmUp of Object.values(contenders)) await warmUp();
      const results = await alternate(rounds, contenders);
      const [known, unknown] = [median(results.known), median(results.unknown)];
      const cells = [known, unknown, unknown - known].map((milliseconds) => milliseconds.toFixed(2));
      rows.push([name, String(toDocument(number).length), ...cells]);
    }
    return toTable(['document', 'characters', 'known, ms', 'new, ms', 'more, ms'], rows);
  } finally {
    await server.stop();
    rmSync(state, { recursive: true, force: true });
  }
}
