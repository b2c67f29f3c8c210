import { setTimeout as sleep } from 'node:timers/promises';
import { stripVTControlCharacters, styleText } from 'node:util';
import Table from 'cli-table3';
import { Command, CommanderError, InvalidArgumentError } from 'commander';
import {
  type ApiError,
  type components,
  createDashboardClient,
  type DashboardClient,
  decodeError,
} from '../src/generated/dashboard/client.js';

type Board = components['schemas']['Dashboard'];

interface Options {
  readonly url: string;
  readonly owner?: string;
  readonly drafts?: true;
  readonly json?: true;
  /** `true` uses the interval that the server recommends. */
  readonly watch?: number | true;
}

/** The longest interval, one day, in seconds. */
const MAX_WATCH_SECONDS = 86_400;

/** The interval until the server recommends one, in seconds. */
const WATCH_SECONDS = 30;

/** Statuses that a retry of the same request would get again. */
const HOPELESS = [400, 401, 403, 404, 422];

const FAILING = 1;
const NO_BOARD = 2;

// The reader of a pipe, such as "head", may have read enough.
process.stdout.on('error', () => process.exit(NO_BOARD));

const command = new Command('list-pull-requests')
  .description(
    'Prints the open pull requests of a board: repository, number, title and CI. The token comes from TRELLIS_TOKEN: a ' +
      'personal API token with the scope "read".',
  )
  .option('--url <address>', 'URL of the server', process.env.TRELLIS_URL ?? 'http://localhost:4000')
  .option('--owner <name>', 'read the board that this user shares with you instead of your own')
  .option('--drafts', 'include drafts')
  .option('--json', 'print JSON in the form of the contract instead of a table')
  .option('--watch [seconds]', 'read the board again at the interval of the server, and print changes', parseSeconds)
  .addHelpText('after', '\nExit code: 0 if no CI fails, 1 if one fails, 2 if the board could not be read.')
  .allowExcessArguments(false)
  .exitOverride();

async function main(): Promise<number> {
  try {
    const options = command.parse().opts<Options>();
    if (!process.env.TRELLIS_TOKEN) {
      throw new Error('No token: set TRELLIS_TOKEN to a personal API token with the scope "read".');
    }
    const client = createDashboardClient(options.url);
    return options.watch === undefined ? await printOnce(client, options) : await watch(client, options);
  } catch (failure) {
    if (failure instanceof CommanderError) return failure.exitCode === 0 ? 0 : NO_BOARD;
    console.error(toPlain((failure as Error).message));
    return NO_BOARD;
  }
}

function parseSeconds(text: string): number {
  const seconds = Number(text);
  if (Number.isInteger(seconds) && seconds >= 1 && seconds <= MAX_WATCH_SECONDS) return seconds;
  throw new InvalidArgumentError(`Expected a whole number of seconds from 1 to ${MAX_WATCH_SECONDS}.`);
}

async function printOnce(client: DashboardClient, options: Options): Promise<number> {
  const { board } = await readBoard(client, options);
  if (board === undefined) throw new Error(`${options.url} returned no board.`);
  print(board, options);
  return toExitCode(board);
}

/** Prints the board after each change until it is interrupted. It waits for temporary failures to pass. */
async function watch(client: DashboardClient, options: Options): Promise<number> {
  const stopped = new AbortController();
  const isStopped = () => stopped.signal.aborted;
  process.once('SIGINT', () => stopped.abort()).once('SIGTERM', () => stopped.abort());
  let etag: string | undefined;
  let board: Board | undefined;
  while (!isStopped()) {
    try {
      const read = await readBoard(client, options, { etag, signal: stopped.signal });
      if (read.board !== undefined) print(read.board, options);
      board = read.board ?? board;
      etag = read.etag ?? etag;
    } catch (failure) {
      if (isStopped()) break;
      if (failure instanceof Refusal && HOPELESS.includes(failure.statusCode)) throw failure;
      console.error(`${new Date().toLocaleTimeString()} ${toPlain((failure as Error).message)}`);
    }
    const seconds = typeof options.watch === 'number' ? options.watch : (board?.readIntervalSeconds ?? WATCH_SECONDS);
    await sleep(seconds * 1000, undefined, { signal: stopped.signal }).catch(() => undefined);
  }
  return board === undefined ? NO_BOARD : toExitCode(board);
}

interface Known {
  readonly etag?: string;
  readonly signal?: AbortSignal;
}

/** Returns no board if it has not changed since the given ETag. */
async function readBoard(client: DashboardClient, { url, owner, drafts }: Options, { etag, signal }: Known = {}) {
  const query = { includeDrafts: drafts ?? false, ...(owner === undefined ? {} : { owner }) };
  const header = etag === undefined ? {} : { 'If-None-Match': etag };
  const call = client.GET('/api/dashboard', { params: { query, header }, ...(signal && { signal }) });
  const { data, error, response } = await call.catch((failure: unknown) => {
    throw new Error(`No answer from ${url}: ${explain(failure)}`, { cause: failure });
  });
  const refusal = decodeError(response, error);
  if (refusal) throw new Refusal(url, refusal);
  return { board: data, etag: response.headers.get('ETag') ?? undefined };
}

class Refusal extends Error {
  readonly statusCode: number;

  constructor(url: string, { statusCode, message }: ApiError) {
    const hint = statusCode === 401 ? ' Is TRELLIS_TOKEN a token of this server, and still valid?' : '';
    super(`${url} refused with ${statusCode}: ${message}${hint}`);
    this.statusCode = statusCode;
  }
}

/** Network errors name their reason in `cause`. */
function explain(failure: unknown): string {
  const { message, cause } = failure as Error;
  const { code, message: reason } = Object(cause) as { code?: string; message?: string };
  if (code === 'ECONNREFUSED') return 'no server is listening. Start the server with "npm start".';
  return `${message} (${code ?? reason ?? 'no reason given'}).`;
}

function print(board: Board, { json, watch }: Options): void {
  const { pullRequests, hiddenDrafts, forges } = board;
  if (json) {
    const text = JSON.stringify(pullRequests, undefined, watch === undefined ? 2 : undefined);
    // JSON escapes other control characters; these also control terminals.
    console.log(text.replace(/[\u007f-\u009f]/g, (control) => `\\u00${control.charCodeAt(0).toString(16)}`));
    return;
  }
  if (watch !== undefined && process.stdout.isTTY) console.clear();
  const style = { width: findWidth(), hasColours: process.stdout.isTTY && !process.env.NO_COLOR };
  if (pullRequests.length > 0) console.log(formatTable(pullRequests, style));
  console.log(summarize(board));
  if (hiddenDrafts > 0) console.log(`${count(hiddenDrafts, 'draft')} hidden; --drafts shows them.`);
  for (const { forge, error, staleSince } of forges) {
    if (error !== undefined)
      console.error(toPlain(`${forge}: ${error}${staleSince ? ` Shown is ${staleSince}.` : ''}`));
  }
}

function summarize({ pullRequests, generatedAt }: Board): string {
  const failing = pullRequests.filter(({ ci }) => ci === 'failure').length;
  return `${count(pullRequests.length, 'pull request')}, ${failing} failing, as of ${generatedAt}.`;
}

const count = (number: number, noun: string) => `${number} ${noun}${number === 1 ? '' : 's'}`;

/** Returns the width of the terminal, or of `COLUMNS`. */
function findWidth(): number | undefined {
  const columns = process.stdout.isTTY ? process.stdout.columns : Number(process.env.COLUMNS);
  return columns > 0 ? columns : undefined;
}

const toExitCode = ({ pullRequests }: Board) => (pullRequests.some(({ ci }) => ci === 'failure') ? FAILING : 0);

type PullRequest = components['schemas']['PullRequest'];

interface TableStyle {
  /** Columns of the terminal; `undefined` for no limit. */
  readonly width: number | undefined;
  readonly hasColours: boolean;
}

/** The highest width of repository names; longer ones are truncated. */
const MAX_REPOSITORY_SHARE = 0.4;

/** The lowest width of titles, so that a narrow terminal shows at least a word. */
const MIN_TITLE_WIDTH = 12;

/** Two spaces between columns. */
const GAP = 2;

const COLOURS = { success: 'green', failure: 'red', pending: 'yellow', none: 'gray' } as const;

/** Formats repository, number, title and CI of each pull request, with titles truncated to the width. */
function formatTable(pullRequests: readonly PullRequest[], { width, hasColours }: TableStyle): string {
  const rows = pullRequests.map(({ repo, number, title, ci }) => [toPlain(repo), `#${number}`, toPlain(title), ci]);
  const heads = ['Repository', 'Number', 'Title', 'CI'];
  const columns = [0, 1, 3].map((column) => Math.max(...[heads, ...rows].map((row) => row[column]?.length ?? 0)) + GAP);
  const [repository = 0, number = 0, ci = 0] = columns;
  const repositoryWidth = Math.min(repository, Math.floor((width ?? Infinity) * MAX_REPOSITORY_SHARE));
  const titleWidth = width && Math.max(MIN_TITLE_WIDTH, width - repositoryWidth - number - ci);
  const table = new Table({
    head: heads,
    chars: NO_LINES,
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': GAP },
    colWidths: [repositoryWidth, number, titleWidth ?? null, null],
    colAligns: ['left', 'right', 'left', 'left'],
  });
  const paint = (text: string) =>
    hasColours && isCi(text) ? styleText(COLOURS[text], text, { validateStream: false }) : text;
  table.push(...rows.map((row) => row.map((cell, column) => (column === 3 ? paint(cell) : cell))));
  return table
    .toString()
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n');
}

const isCi = (text: string): text is PullRequest['ci'] => Object.hasOwn(COLOURS, text);

/** Characters that move the cursor, break the line or change the text direction, with the spaces around them. */
const CONTROLS = /[\s\p{Cc}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]+/gu;

/** Formats untrusted text as one line without terminal control characters. */
function toPlain(text: string): string {
  return stripVTControlCharacters(text).replace(CONTROLS, ' ').trim();
}

const NO_LINES = Object.fromEntries(
  ['top', 'bottom', 'left', 'right', 'mid', 'middle']
    .flatMap((side) => [side, `${side}-mid`, `${side}-left`, `${side}-right`, `left-mid`, `mid-mid`, `right-mid`])
    .map((name) => [name, '']),
);

process.exitCode = await main();
