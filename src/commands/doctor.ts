import { loadConfig } from '../config/config.js';
import type { Config } from '../config/config.js';
import { checkAuditLog } from './doctor/check-audit-log.js';
import { checkAddress, checkProxy, checkSiteAccess } from './doctor/check-address.js';
import { checkDatabase, checkKey, checkServer, checkStateFolder } from './doctor/check-data.js';
import { checkDisk, checkNode, checkPort } from './doctor/check-machine.js';
import { checkSite } from './doctor/check-site.js';
import { failed, passed } from './doctor/check-result.js';
import type { CheckResult } from './doctor/check-result.js';

export interface DoctorOptions {
  readonly flags: Readonly<Record<string, string | undefined>>;
  readonly json: boolean;
  readonly out: NodeJS.WritableStream;
}

/** Runs every check and prints its result, without changing anything. @returns the exit code: 1 when a check failed. */
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

async function examineAll(config: Config): Promise<CheckResult[]> {
  const { isRunning, ...server } = await checkServer(config);
  return [
    await checkStateFolder(config),
    await checkDisk(config.state),
    await checkKey(config),
    await checkDatabase(config),
    await checkAuditLog(config),
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
