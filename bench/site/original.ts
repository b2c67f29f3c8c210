import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { build } from '../child.js';
import { median } from '../rounds.js';
import { ask, type RunningServer, startServer } from '../server.js';
import { toTable } from '../table.js';
import { countPreviews } from './images.js';
import { makePictures } from './make-pictures.js';
import { benchFolder } from './scan.js';

export interface OriginalBenchOptions {
  readonly files: number;
  readonly folders: number;
  readonly pictures: number;
  readonly megapixels: number;
  readonly rounds: number;
  /** The requests of each query in a round. */
  readonly requests: number;
}

/** A query whose cost in the original of this schema (Gatsby 2.24) was recorded. */
interface RecordedQuery {
  readonly name: string;
  /** The processor time of one request to the original, over 20,100 files, in milliseconds. */
  readonly originalMs: number;
  /** How many times less time the goal allows. */
  readonly goal: number;
  readonly query: string;
  /** Returns the variables of a request, which differ each time, so that no result is one that the server has stored. */
  readonly variables: (number: number, paths: readonly string[]) => Readonly<Record<string, unknown>>;
}

const FIELDS = 'nodes { id relativePath size }';

const QUERIES: readonly RecordedQuery[] = [
  {
    name: 'equality on `relativePath`',
    originalMs: 116,
    goal: 20,
    query: `query ($path: String) { allFile(filter: {relativePath: {eq: $path}}) { ${FIELDS} } }`,
    variables: (number, paths) => ({ path: paths[number % paths.length] }),
  },
  {
    name: 'sort by two fields, limit 20, skip',
    originalMs: 547,
    goal: 20,
    query: `query ($skip: Int) { allFile(sort: {fields: [extension, size], order: [ASC, DESC]}, limit: 20, skip: $skip) { ${FIELDS} } }`,
    variables: (number) => ({ skip: 40 + number }),
  },
  {
    name: 'group by extension',
    originalMs: 873,
    goal: 20,
    query: `query ($size: Int) { allFile(filter: {size: {gte: $size}}) { group(field: extension) { fieldValue totalCount } } }`,
    variables: (number) => ({ size: -number }),
  },
  {
    name: 'distinct `relativePath`',
    originalMs: 3527,
    goal: 20,
    query: `query ($size: Int) { allFile(filter: {size: {gte: $size}}) { distinct(field: relativePath) } }`,
    variables: (number) => ({ size: -number }),
  },
  {
    name: '2,000 dates, `MMMM Do, YYYY`',
    originalMs: 2320,
    goal: 20,
    query: `query ($skip: Int) { allFile(limit: 2000, skip: $skip) { nodes { modifiedTime(formatString: "MMMM Do, YYYY") } } }`,
    variables: (number) => ({ skip: number }),
  },
  {
    name: 'count with `regex`',
    originalMs: 46,
    goal: 5,
    query: 'query ($regex: String) { allFile(filter: {name: {regex: $regex}}) { totalCount } }',
    variables: (number) => ({ regex: `/(amber|delta).*${number}$/` }),
  },
  {
    name: 'count with `ne` and `gt`',
    originalMs: 314,
    goal: 20,
    query: 'query ($size: Int) { allFile(filter: {extension: {ne: "md"}, size: {gt: $size}}) { totalCount } }',
    variables: (number) => ({ size: 500 + number }),
  },
  {
    name: '`in` with 200 values',
    originalMs: 34,
    goal: 20,
    query: `query ($paths: [String]) { allFile(filter: {relativePath: {in: $paths}}) { ${FIELDS} } }`,
    variables: (number, paths) => ({
      paths: Array.from({ length: 200 }, (_, index) => paths[(number * 7 + index * 5) % paths.length]),
    }),
  },
  {
    name: 'count with two globs, one on a nested path',
    originalMs: 987,
    goal: 5,
    query: `query ($glob: String) {
      allFile(filter: {relativePath: {glob: $glob}, internal: {mediaType: {glob: "text/*"}}}) { totalCount }
    }`,
    variables: (number) => ({ glob: `**/*-${number}*.md` }),
  },
  {
    name: 'edges with next and previous, skip 19,000',
    originalMs: 326,
    goal: 20,
    query: `query ($skip: Int) {
      allFile(limit: 20, skip: $skip) { edges { node { id name } next { id } previous { id } } }
    }`,
    variables: (number) => ({ skip: 19_000 - (number % 500) }),
  },
];

/** The figures of the original for a start, and for `fluid` of 100 pictures, of which only the time was recorded. */
const START = { cpuMs: 93_000, megabytes: 843 };
const PREVIEWS_MS = 18_343;

/** Measures the queries whose cost in the original was recorded, over a folder of the same shape. */
export async function benchOriginal(options: OriginalBenchOptions): Promise<string> {
  build();
  const work = mkdtempSync(path.join(tmpdir(), 'trellis-bench-original-'));
  try {
    await makeSite(work, options);
    const { rows, started, previewsMs } = await measureServer(work, options);
    const ahead = await measureAhead(work, options.pictures);
    const previews = `\`fluid\` with \`base64\` of ${options.pictures} pictures, first`;
    const times = (ahead.previewsMs / ahead.linksMs).toFixed(1);
    return [
      toTable(['query', 'original, CPU ms', 'first, CPU ms', 'CPU ms', 'times less', 'goal'], rows),
      toTable(
        ['', 'original', 'measured', 'times less'],
        [
          toRow('start over an empty state folder, CPU ms', START.cpuMs, started.cpuMs),
          toRow('memory after the start, MB', START.megabytes, started.megabytes),
          toRow(`${previews}, ms`, PREVIEWS_MS, previewsMs),
          toRow(`${previews}, previews rendered ahead, ms`, PREVIEWS_MS, ahead.previewsMs),
        ],
      ),
      `The last took ${times} times as long as the first query for links alone (${ahead.linksMs.toFixed(0)} ms).`,
    ].join('\n\n');
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

async function makeSite(work: string, { pictures, megapixels, ...size }: OriginalBenchOptions): Promise<void> {
  const site = path.join(work, 'site');
  mkdirSync(site);
  // Links of files to the folder that other benchmarks use as it is.
  execFileSync('cp', ['-al', benchFolder(size), path.join(site, 'files')]);
  await makePictures(path.join(site, 'pictures'), pictures, megapixels);
}

async function measureServer(work: string, options: OriginalBenchOptions) {
  const server = await startOver(path.join(work, 'site'), {
    TRELLIS_STATE: path.join(work, 'state'),
    TRELLIS_IMAGE_PREVIEWS: 'false',
    // On a busy machine, all previews in one response take longer than a query may.
    TRELLIS_QUERY_TIMEOUT_MS: '600000',
  });
  try {
    const started = { cpuMs: server.firstAnswerCpuMs, megabytes: server.megabytes() };
    const rows = await measureQueries(server, options);
    const query = fluidOf('pictures', 'base64 src srcSet');
    return { rows, started, previewsMs: await time(() => ask(server.origin, query)) };
  } finally {
    await server.stop();
  }
}

/** Measures the first queries of a server over the pictures that has rendered the previews in the background. */
async function measureAhead(work: string, pictures: number): Promise<Record<'linksMs' | 'previewsMs', number>> {
  const state = path.join(work, 'state-ahead');
  const server = await startOver(path.join(work, 'site', 'pictures'), { TRELLIS_STATE: state });
  try {
    while (countPreviews(state) < pictures) await setTimeout(100);
    const linksMs = await time(() => ask(server.origin, fluidOf('', 'src srcSet')));
    return { linksMs, previewsMs: await time(() => ask(server.origin, fluidOf('', 'base64 src srcSet'))) };
  } finally {
    await server.stop();
  }
}

/** Selects fields of the pictures in a folder; the other images have random bytes. */
const fluidOf = (folder: string, fields: string): string => `{
  allFile(filter: {relativeDirectory: {eq: "${folder}"}}) {
    nodes { childImageProc { fluid(maxWidth: 800) { ${fields} } } }
  }
}`;

const toRow = (name: string, original: number, measured: number): string[] => [
  name,
  original.toFixed(0),
  measured.toFixed(0),
  (original / measured).toFixed(1),
];

const startOver = (site: string, settings: Readonly<Record<string, string>>): Promise<RunningServer> =>
  startServer(['dist/cli.js', 'serve', '--services', 'site', '--site', site], { TRELLIS_WATCH: 'false', ...settings });

async function measureQueries(server: RunningServer, { rounds, requests }: OriginalBenchOptions): Promise<string[][]> {
  const { allFile } = (await ask(server.origin, '{ allFile(limit: 20000) { nodes { relativePath } } }')) as {
    allFile: { nodes: { relativePath: string }[] };
  };
  const paths = allFile.nodes.map(({ relativePath }) => relativePath);
  let number = 0;
  const send = async ({ query, variables }: RecordedQuery, times: number): Promise<number> => {
    const before = server.cpuMs();
    for (let time = 0; time < times; time += 1) await ask(server.origin, query, variables((number += 1), paths));
    return (server.cpuMs() - before) / times;
  };
  const firsts = new Map<RecordedQuery, number>();
  for (const query of QUERIES) firsts.set(query, await send(query, 1));
  const later = new Map(QUERIES.map((query) => [query, [] as number[]]));
  for (let round = 0; round < rounds; round += 1) {
    for (const query of QUERIES) later.get(query)?.push(await send(query, requests));
  }
  return QUERIES.map((query) => {
    const { name, originalMs, goal } = query;
    const ms = median(later.get(query) ?? []);
    const first = firsts.get(query) ?? NaN;
    return [name, String(originalMs), first.toFixed(1), ms.toFixed(2), (originalMs / ms).toFixed(0), String(goal)];
  });
}

async function time(run: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await run();
  return performance.now() - startedAt;
}
