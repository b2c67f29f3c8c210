/** The log of a server, as one stream: lines of JSON, or text on a terminal. */
import cluster from 'node:cluster';
import { hostname } from 'node:os';
import { createLog, type Log } from '@trellis/server/http/request';
import { createLineOutput, createTerminalDestination, type TextOutput } from '@trellis/server/http/terminal-log';
import type { Config } from '../config/config.js';

/** Names this process in logs and traces. */
export const INSTANCE = `${hostname()}:${process.pid}`;

interface LogStreams {
  /** Receives the log: as text if it is a terminal, else as lines of JSON. */
  readonly output: NodeJS.WriteStream;
  /** Shows the progress of a long scan, if the log goes to a terminal. */
  readonly terminal: NodeJS.WriteStream;
}

/** Opens the log. Each line names the process and its release, as the logs of several servers are often one stream. */
export function openLog(
  { logLevel: level, workers }: Config,
  { output, version }: Pick<LogStreams, 'output'> & { readonly version: string },
): Log {
  if (output.isTTY) return createLog({ level, destination: createTerminalDestination(output) });
  const isShared = workers > 1;
  const base = { instance: INSTANCE, ...(isShared && cluster.worker && { worker: cluster.worker.id }), version };
  // Standard output is written by its number, in batches.
  return createLog({ level, base, isShared, ...(output === process.stdout ? {} : { destination: output }) });
}

/** Switches between the configured level and `debug`. */
export function toggleDebug(log: Log, level: Config['logLevel']): void {
  log.level = log.level === 'debug' ? level : 'debug';
  announce(log, `The log level is ${log.level}.`);
}

/** Logs a line whatever the level is, and without delay. */
export function announce(log: Log, line: string): void {
  log.child({}, { level: 'info' }).info(line);
  log.flush();
}

const REPEAT_MS = 60_000;

/**
 * Returns a function that logs the errors of a background task. The same error is logged once a minute, as an outage makes
 * a task fail every few seconds.
 */
export function createErrorReport(log: Log, message: string, now = () => performance.now()): (error: unknown) => void {
  const loggedAt = new Map<string, number>();
  return (err) => {
    for (const [text, at] of loggedAt) if (now() - at >= REPEAT_MS) loggedAt.delete(text);
    const text = String(err);
    if (loggedAt.has(text)) return;
    loggedAt.set(text, now());
    log.error({ err }, message);
  };
}

/** Returns the output of scans: the terminal, or else the log. */
export const toScanOutput = (log: Log, { output, terminal }: LogStreams): TextOutput =>
  output.isTTY ? terminal : createLineOutput(log);
