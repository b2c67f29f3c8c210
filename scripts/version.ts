import { parseArgs } from 'node:util';
import { decodeError } from '@trellis/client/errors';
import { createDashboardClient } from '../src/generated/dashboard/client.js';

const USAGE = `Usage: tsx scripts/version.ts [address]

Prints the version of the server at this address, by default that of
TRELLIS_URL or else http://localhost:4000.

  --help   shows this text`;

/** Returns the exit code: 1 if the version could not be read, 2 for an invalid command line. */
async function main(): Promise<number> {
  const commandLine = readCommandLine();
  if (commandLine === undefined) return 2;
  if (commandLine.help) {
    console.log(USAGE);
    return 0;
  }
  const address = commandLine.address ?? process.env.TRELLIS_URL ?? 'http://localhost:4000';
  try {
    console.log(await readVersion(address));
    return 0;
  } catch (failure) {
    console.error(`No version from ${address}: ${explain(failure)}`);
    return 1;
  }
}

function readCommandLine(): { help: boolean; address: string | undefined } | undefined {
  try {
    const { values, positionals } = parseArgs({ options: { help: { type: 'boolean' } }, allowPositionals: true });
    if (positionals.length > 1) throw new TypeError(`Expected one address; received ${positionals.length}.`);
    return { help: values.help ?? false, address: positionals[0] };
  } catch (mistake) {
    console.error(`${(mistake as Error).message}\n\n${USAGE}`);
    return undefined;
  }
}

async function readVersion(address: string): Promise<string> {
  const { data, error, response } = await createDashboardClient(address).GET('/api/version');
  if (data === undefined) throw decodeError(response, error) ?? new Error(`status ${response.status} without a body.`);
  return data.version;
}

/** Network errors name their reason in `cause`. */
function explain(failure: unknown): string {
  const { message, cause } = failure as Error;
  const { code } = Object(cause) as { code?: string };
  if (code === 'ECONNREFUSED') return 'no server is listening. Start the server with "npm start".';
  return code === undefined ? message : `${message} (${code}).`;
}

process.exitCode = await main();
