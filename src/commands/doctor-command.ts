import { Command } from 'commander';
import { CONFIG_OPTIONS } from '../config/options.js';

interface Flags extends Readonly<Record<string, string | true | undefined>> {
  readonly json?: true;
}

/** `trellis doctor`: checks the requirements of a start, and suggests fixes. */
export function doctorCommand(out: NodeJS.WritableStream): Command {
  const doctor = new Command('doctor')
    .description('Check configuration, database, permissions, port and disk, and suggest fixes')
    .option('--config <file>', 'configuration file (default: trellis.config.* in the working directory)')
    .option('--json', 'print JSON');
  for (const { flag, description, env } of Object.values(CONFIG_OPTIONS))
    doctor.option(flag, `${description} [${env}]`);
  return doctor.action(async ({ json, ...flags }: Flags) => {
    const { runDoctor } = await import('./doctor.js');
    process.exitCode = await runDoctor({ flags: flags as Record<string, string>, json: json === true, out });
  });
}
