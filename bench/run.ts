import { Command } from 'commander';
import { benchBoard } from './dashboard/board.js';
import { benchBudget } from './dashboard/budget.js';
import { benchDashboard } from './dashboard/dashboard.js';
import { benchPages } from './dashboard/pages.js';
import { benchStreams } from './dashboard/streams.js';
import { benchGenerate } from './generate.js';
import { benchRest } from './operations/rest.js';
import { benchWorkers } from './operations/workers.js';
import { benchAudit } from './secrets/audit.js';
import { benchCommands } from './secrets/commands.js';
import { benchLists } from './secrets/lists.js';
import { benchSecrets } from './secrets/secrets.js';
import { benchDocuments } from './site/documents.js';
import { benchImageFlood } from './site/image-flood.js';
import { benchImages } from './site/images.js';
import { benchLargeFiles } from './site/large-files.js';
import { benchLive } from './site/live.js';
import { benchMalicious } from './site/malicious.js';
import { benchOriginal } from './site/original.js';
import { benchPatterns } from './site/patterns.js';
import { benchQueries } from './site/queries.js';
import { benchRepeated } from './site/repeated.js';
import { benchScale } from './site/scale.js';
import { benchScan } from './site/scan.js';

const count = (text: string): number => {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1) throw new Error(`Expected a whole number above 0; received ${text}.`);
  return value;
};

/** A numeric option: its name, its description, the value for a measurement, and the value for the smoke run. */
type Count = readonly [name: string, meaning: string, measured: number, tiny: number];

interface Benchmark {
  readonly name: string;
  readonly description: string;
  readonly counts: readonly Count[];
  /** The database engines of a benchmark that runs on several. */
  readonly engines?: readonly string[];
  /** Runs the benchmark with the counts by name, and the engines; returns Markdown tables. */
  readonly run: (options: never) => Promise<string>;
}

/** Adapts a function whose options have the names of the counts; the smoke run shows that they agree. */
const call = ({ run }: Benchmark, options: object): Promise<string> => run(options as never);

const FILES: Count = ['files', 'number of files', 20_000, 600];
const FOLDERS: Count = ['folders', 'number of their folders', 1000, 50];
const rounds = (measured: number): Count => ['rounds', 'number of alternating rounds', measured, 1];
const SECONDS: Count = ['seconds', 'duration of each load in a round', 4, 0.1];

const BENCHMARKS: readonly Benchmark[] = [
  {
    name: 'scan',
    description: 'cold and warm scan of a folder, beside a bare walk',
    counts: [FILES, FOLDERS, rounds(5)],
    run: benchScan,
  },
  {
    name: 'large-files',
    description: 'start and memory of a server over posts, alone and beside sparse videos',
    counts: [
      ['posts', 'number of posts', 2000, 20],
      ['videos', 'number of videos', 25, 2],
      ['gigabytes', 'size of each video', 2, 1],
      rounds(3),
      ['seconds', 'how long the server runs afterwards', 20, 0.1],
    ],
    run: benchLargeFiles,
  },
  {
    name: 'generate',
    description: 'the generators, beside graphql-codegen and openapi-typescript with the same documents',
    counts: [rounds(3), ['copies', 'how many times as large the contracts of the second project are', 10, 2]],
    run: benchGenerate,
  },
  {
    name: 'queries',
    description: 'start, memory and requests per second of queries, beside the engine with constant answers',
    counts: [FILES, FOLDERS, rounds(3), SECONDS],
    run: benchQueries,
  },
  {
    name: 'original',
    description: 'processor time of the queries whose cost in the original of the schema was recorded',
    counts: [
      FILES,
      FOLDERS,
      ['pictures', 'number of pictures', 100, 2],
      ['megapixels', 'size of each picture', 4, 1],
      rounds(5),
      ['requests', 'requests of each query in a round', 20, 1],
    ],
    run: benchOriginal,
  },
  {
    name: 'repeated',
    description: 'requests per second of repeated queries, beside bare node:http with the same bytes',
    counts: [FILES, FOLDERS, rounds(5), SECONDS],
    run: benchRepeated,
  },
  {
    name: 'documents',
    description: 'queries whose document the server has never seen, beside known ones',
    counts: [FILES, FOLDERS, rounds(5), ['requests', 'number of requests of each kind in a round', 300, 3]],
    run: benchDocuments,
  },
  {
    name: 'workers',
    description: 'requests per second of page queries, with one process and with several workers',
    counts: [FILES, FOLDERS, rounds(5), SECONDS, ['workers', 'number of workers', 2, 2]],
    run: benchWorkers,
  },
  {
    name: 'pages',
    description: 'loads, interactions and scrolling of the board in Chromium, as on a phone with a slow network',
    counts: [
      rounds(5),
      ['fewer', 'number of pull requests on the small board', 60, 20],
      ['rows', 'number of pull requests on the large board; the same number measures one board', 2000, 20],
      ['load-ms', 'milliseconds after which a load is complete', 6000, 2500],
    ],
    run: benchPages,
  },
  {
    name: 'scale',
    description: 'queries over 1,000 files and over many, just after a record changed and again',
    counts: [
      ['few', 'number of files on the small site', 1000, 100],
      ['files', 'number of files on the large site', 100_000, 200],
      rounds(15),
    ],
    run: benchScale,
  },
  {
    name: 'live',
    description: 'time until a changed file is visible to queries',
    counts: [FILES, FOLDERS, ['changes', 'number of changes of each kind', 100, 2]],
    run: benchLive,
  },
  {
    name: 'images',
    description: 'image fields in responses, rendering and serving images, each beside its lower bound',
    counts: [
      ['pictures', 'number of images on the site', 200, 2],
      ['megapixels', 'size of each image', 24, 1],
      ['made', 'number of images whose derived images are generated', 200, 2],
      rounds(5),
      SECONDS,
    ],
    run: benchImages,
  },
  {
    name: 'rest',
    description: 'requests per second of three operations of the dashboard, beside Express alone',
    counts: [rounds(5), SECONDS, ['people', 'number of users who create tokens', 4000, 100]],
    run: benchRest,
  },
  {
    name: 'dashboard',
    description: 'responses per second of a large board, with and without an ETag, beside Express with its bytes ready',
    counts: [['pull-requests', 'number of pull requests on the board', 2000, 100], rounds(3), SECONDS],
    run: benchDashboard,
  },
  {
    name: 'audit',
    description: 'audited writes and reads of one, two and four servers on one PostgreSQL, beside a bare transaction',
    counts: [
      ['secrets', 'number of secrets', 500, 20],
      rounds(3),
      SECONDS,
      ['clients', 'number of clients, which the servers share', 12, 4],
    ],
    run: benchAudit,
  },
  {
    name: 'board',
    description: 'reading three forges, first and later, and the delay of a change that a webhook reports',
    counts: [
      ['repositories', 'number of repositories in all', 300, 30],
      ['pull-requests', 'number of open pull requests', 2000, 60],
      ['deliveries', 'number of webhook deliveries', 20, 2],
    ],
    run: benchBoard,
  },
  {
    name: 'budget',
    description: 'points of the hourly quota that reading a large account at GitHub costs',
    counts: [
      ['repositories', 'number of repositories', 2000, 60],
      ['pull-requests', 'number of open pull requests', 5000, 150],
    ],
    run: benchBudget,
  },
  {
    name: 'streams',
    description: 'open streams of boards: the delay and bytes of events, and the cost for the server',
    counts: [
      ['streams', 'number of open streams', 500, 32],
      ['pull-requests', 'number of open pull requests of each board', 200, 20],
      ['seconds', 'number of changes of every board, one each second', 20, 1],
    ],
    run: benchStreams,
  },
  {
    name: 'secrets',
    description: 'readers and writers of secrets together, and audited reads beside Express alone, on each engine',
    counts: [
      ['secrets', 'number of secrets, an even one; a small company has 500', 500, 20],
      ['seconds', 'duration of the mixed load', 60, 0.2],
      rounds(3),
      ['round-seconds', 'duration of each load in a round', 4, 0.1],
      ['refusals', 'number of refused reads of each kind', 2000, 50],
    ],
    engines: ['sqlite', 'postgres'],
    run: benchSecrets,
  },
  {
    name: 'commands',
    description: 'processor time of commands of secrets, beside `node -e 0` and `age -d`',
    counts: [rounds(20)],
    run: benchCommands,
  },
  {
    name: 'lists',
    description: 'every list of both services over many rows on each engine, beside /healthz',
    counts: [
      ['secrets', 'number of secrets', 1_000_000, 300],
      ['entries', 'number of entries of the audit log', 1_000_000, 300],
      ['consumers', 'number of consumers', 5_000, 20],
      ['people', 'number of users', 10_000, 50],
      rounds(3),
    ],
    engines: ['sqlite', 'postgres'],
    run: benchLists,
  },
  {
    name: 'malicious',
    description: '200 queries that try to exhaust the server, and the delay of ordinary ones meanwhile',
    counts: [
      ['files', 'number of files', 100_000, 200],
      ['folders', 'number of their folders', 5000, 10],
    ],
    run: benchMalicious,
  },
  {
    name: 'patterns',
    description: 'adversarial globs and regexes: how long they hold the event loop, and the delay of other requests',
    counts: [
      ['files', 'number of files', 100_000, 200],
      ['folders', 'number of their folders', 5000, 10],
      ['patterns', 'number of patterns', 2000, 20],
      ['clients', 'number of patterns sent at the same time', 1, 1],
    ],
    run: benchPatterns,
  },
  {
    name: 'image-flood',
    description: 'anonymous requests for different images: the disk that they take, and the delay of other requests',
    counts: [
      ['requests', 'number of different images', 10_000, 40],
      ['quota-megabytes', 'the quota of the server', 10, 10],
      ['connections', 'number of images requested at the same time', 8, 2],
    ],
    run: benchImageFlood,
  },
];

const program = new Command('npm run bench --').description('Measure Trellis beside the lower bounds of its work.');

for (const benchmark of BENCHMARKS) {
  const { name, description, counts, engines } = benchmark;
  const command = program.command(name).description(description);
  for (const [option, meaning, measured] of counts) command.option(`--${option} <count>`, meaning, count, measured);
  if (engines) command.option('--engines <names...>', engines.join(', '), [...engines]);
  command.action(async (options: object) => void process.stdout.write(`${await call(benchmark, options)}\n`));
}

const toCamelCase = (name: string): string => name.replace(/-(\w)/g, (_match, letter: string) => letter.toUpperCase());

program
  .command('smoke')
  .description('run each benchmark with tiny settings to check that it works; the figures are meaningless')
  .argument('[names...]', 'some of them (default: all)')
  .action(async (names: readonly string[]) => {
    const chosen = BENCHMARKS.filter(({ name }) => names.length === 0 || names.includes(name));
    for (const benchmark of chosen) {
      const { name, counts, engines } = benchmark;
      const startedAt = performance.now();
      const options = Object.fromEntries(counts.map(([option, , , tiny]) => [toCamelCase(option), tiny]));
      const table = await call(benchmark, { ...options, engines });
      if (!table.includes('| ')) throw new Error(`The benchmark ${name} printed no table.`);
      process.stdout.write(`${name}: ran in ${((performance.now() - startedAt) / 1000).toFixed(1)} s\n`);
    }
  });

await program.parseAsync();
