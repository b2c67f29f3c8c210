import { Command } from 'commander';
import { type Config, loadConfig } from '../../config/config.js';
import { CONFIG_OPTIONS } from '../../config/options.js';
import { withServerKey } from '../../config/server-key-command.js';
import { checkAddress, checkDisk, checkNode, checkPort, checkProxy, checkSiteAccess } from './check-machine.js';
import { type CheckResult, failed, passed } from './check-result.js';

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
    process.exitCode = await runDoctor({ flags: flags as Record<string, string>, json: json === true, out });
  });
}

interface DoctorOptions {
  readonly flags: Readonly<Record<string, string | undefined>>;
  readonly json: boolean;
  readonly out: NodeJS.WritableStream;
}

/** Runs every check and prints its result, without changing anything but a probe in the bucket. @returns the exit code: 1 when a check failed. */
export async function runDoctor({ flags, json, out }: DoctorOptions): Promise<number> {
  const findings = await examine(flags);
  out.write(json ? `${JSON.stringify(findings, undefined, 2)}\n` : findings.map(toLine).join(''));
  return findings.some(({ status }) => status === 'fail') ? 1 : 0;
}

async function examine(flags: DoctorOptions['flags']): Promise<CheckResult[]> {
  const config = await loadConfig({ flags }).catch((error: unknown) => error as Error);
  // The other checks need the configuration.
  if (config instanceof Error) return [checkNode(), failed('settings', config.message, 'fix it, see --help')];
  return [checkNode(), passed('settings', `services ${config.services.join(', ')}`), ...(await examineAll(config))];
}

async function examineAll(settings: Config): Promise<CheckResult[]> {
  const keyed = await withServerKey(settings).catch((error: unknown) => error as Error);
  const config = keyed instanceof Error ? settings : keyed;
  // Loaded late, so that --help does not wait for the modules of database and site.
  const data = await import('./check-data.js');
  const { checkObjects } = await import('./check-objects.js');
  const { checkSite } = await import('./check-site.js');
  const { isRunning, ...server } = await data.checkServer(config);
  return [
    await data.checkStateFolder(config),
    await checkDisk(config.state),
    keyed instanceof Error
      ? failed('key', keyed.message, 'run the command as the user of the server, and fix it')
      : await data.checkKey(config),
    await data.checkDatabase(config),
    await data.checkAuditLog(config),
    await data.checkDerivedData(config),
    await checkObjects(config),
    await checkSite(config),
    checkSiteAccess(config),
    server,
    await checkPort(config, isRunning),
    checkAddress(config),
    checkProxy(config),
  ];
}

function toLine({ check, status, found, advice }: CheckResult): string {
  const line = `${status.padEnd(5)} ${check}: ${found}`;
  return advice === undefined ? `${line}\n` : `${line}\n      ${advice}\n`;
}
