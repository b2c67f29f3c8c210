import { listMaliciousQueries } from '../../tests/fuzz/malicious-queries.js';
import { build } from '../child.js';
import { ask, startServer } from '../server.js';
import { toTable } from '../table.js';
import { benchFolder } from './scan.js';

interface Outcome {
  readonly tries: string;
  readonly milliseconds: number;
  readonly status: number;
  readonly bytes: number;
  readonly refused: string;
}

const ORDINARY = `{ allFile(filter: { extension: { eq: "md" } }, sort: { fields: [mtime], order: [DESC] }, limit: 20) {
  totalCount nodes { name size mtime(formatString: "YYYY") } } }`;

/** Measures malicious queries by their kind, and the delay of an ordinary query while they run. */
export async function benchMalicious(size: { files: number; folders: number }): Promise<string> {
  build();
  const directory = benchFolder(size);
  const server = await startServer(['dist/cli.js', 'serve', '--site', directory, '--state', `${directory}.state`], {
    TRELLIS_SERVICES: 'site',
    LOG_LEVEL: 'warn',
  });
  try {
    await ask(server.origin, ORDINARY);
    const outcomes: Outcome[] = [];
    const waits: number[] = [];
    const stream = streamOrdinary(server.origin, waits);
    for (const { tries, ...body } of listMaliciousQueries())
      outcomes.push({ tries, ...(await send(server.origin, body)) });
    await stream.stop();
    return `${report(outcomes)}\n\n${summary(outcomes, waits)} RSS ${server.megabytes().toFixed(0)} MB.`;
  } finally {
    await server.stop();
  }
}

async function send(origin: string, body: object): Promise<Omit<Outcome, 'tries'>> {
  const startedAt = performance.now();
  const response = await fetch(`${origin}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/graphql-response+json' },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  const { errors } = JSON.parse(text) as { errors?: { message: string }[] };
  return {
    milliseconds: performance.now() - startedAt,
    status: response.status,
    bytes: text.length,
    refused: errors?.[0]?.message ?? '',
  };
}

function streamOrdinary(origin: string, waits: number[]): { stop(): Promise<void> } {
  let isOver = false;
  const run = async (): Promise<void> => {
    while (!isOver) {
      const startedAt = performance.now();
      await ask(origin, ORDINARY);
      waits.push(performance.now() - startedAt);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  };
  const running = run();
  return {
    async stop() {
      isOver = true;
      await running;
    },
  };
}

function report(outcomes: readonly Outcome[]): string {
  const families = [...new Set(outcomes.map(({ tries }) => tries))];
  const rows = families.map((tries) => {
    const own = outcomes.filter((one) => one.tries === tries);
    const slowest = own.reduce((one, other) => (other.milliseconds > one.milliseconds ? other : one));
    return [
      tries,
      slowest.milliseconds.toFixed(0),
      String(own.filter(({ refused }) => refused === '').length),
      String(Math.max(...own.map(({ status }) => status))),
      (Math.max(...own.map(({ bytes }) => bytes)) / 1e6).toFixed(1),
      own.find(({ refused }) => refused !== '')?.refused.slice(0, 90) ?? '',
    ];
  });
  return toTable(['tries', 'slowest ms', 'answered', 'status', 'MB', 'otherwise refused by'], rows);
}

function summary(outcomes: readonly Outcome[], waits: readonly number[]): string {
  const slowest = Math.max(...outcomes.map(({ milliseconds }) => milliseconds));
  const sorted = [...waits].sort((one, other) => one - other);
  const at = (part: number): string => (sorted[Math.floor((sorted.length - 1) * part)] ?? NaN).toFixed(0);
  return `${outcomes.length} queries, the slowest in ${slowest.toFixed(0)} ms. ${waits.length} ordinary ones meanwhile: median ${at(0.5)} ms, 99 % ${at(0.99)} ms, longest ${at(1)} ms.`;
}
