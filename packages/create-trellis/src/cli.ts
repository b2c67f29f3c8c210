#!/usr/bin/env node
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { createProject, ProjectError } from './create-project.js';

const USAGE = `Usage: npm create trellis <folder> [-- --with accounts,dashboard,secrets,site]

Writes a small project with a service of its own into a new folder.

  --with <parts>   more to switch on, separated by commas
  --help           shows this text`;

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

async function run(): Promise<number> {
  try {
    const options = { with: { type: 'string' }, help: { type: 'boolean' } } as const;
    const { values, positionals } = parseArgs({ allowPositionals: true, options });
    const [folder] = positionals;
    if (values.help === true || folder === undefined || positionals.length > 1) {
      process.stdout.write(`${USAGE}\n`);
      return values.help === true ? 0 : 2;
    }
    const { npm_config_user_agent: userAgent = '' } = process.env;
    const text = await createProject(folder, { version, parts: values.with?.split(',') ?? [], userAgent });
    process.stdout.write(`${text}\n`);
    return 0;
  } catch (error) {
    const isUsage = error instanceof Error && 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS');
    if (!isUsage && !(error instanceof ProjectError)) throw error;
    process.stderr.write(`create-trellis: ${error.message}\n`);
    return isUsage ? 2 : 1;
  }
}

process.exitCode = await run();
