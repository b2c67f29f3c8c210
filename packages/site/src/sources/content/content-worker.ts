import { parentPort } from 'node:worker_threads';
import { type ContentEntry, ContentError } from './content-entry.js';
import type { ParsedEntry, ParseReply, ParseRequest } from './content-parser.js';
import { firstLine, readEntries } from './read-entries.js';

/** The number of entries per message, which blocks the receiving thread for a few milliseconds at most. */
const CHUNK = 1000;

function* reply({ text, extension, places }: ParseRequest): Generator<ParseReply> {
  const entries = readEntries(text, extension);
  if (places) {
    yield { lines: places.map(({ entry, path }) => entries[entry]?.lineOf(path) ?? 1) };
    return;
  }
  for (let from = 0; from < entries.length; from += CHUNK) {
    yield { entries: entries.slice(from, from + CHUNK).map(toParsed) };
  }
  yield { end: true };
}

const toParsed = ({ values, body, textOnly, written }: ContentEntry): ParsedEntry => ({
  values,
  body,
  textOnly,
  written,
});

function toError(error: unknown): ParseReply {
  return { error: firstLine(error), line: error instanceof ContentError ? error.line : 1 };
}

// Announces readiness, so that loading this module does not count towards a deadline.
parentPort?.postMessage({ ready: true } satisfies ParseReply);

parentPort?.on('message', (request: ParseRequest) => {
  try {
    for (const message of reply(request)) parentPort?.postMessage(message);
  } catch (error) {
    parentPort?.postMessage(toError(error));
  }
});
