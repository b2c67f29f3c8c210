import type { Log } from '@trellis/server/http/request';
import type { Config } from '../../config/config.js';
import { readEnvironment } from '../../config/environment.js';
import { INSTANCE } from '../log.js';
import type { Tracing } from './tracing.js';

/** Starts to trace if the standard variables of OpenTelemetry name a collector. Otherwise, the module is not loaded. */
export async function startConfiguredTracing(
  { trustProxy }: Config,
  { log, version }: { readonly log: Log; readonly version: string },
): Promise<Tracing | undefined> {
  if (!isTracing(readEnvironment())) return undefined;
  const { startTracing } = await import('./tracing.js');
  return startTracing({ log, version, instance: INSTANCE, trustsParents: trustProxy > 0 });
}

const isTracing = (env: Readonly<Record<string, string | undefined>>): boolean =>
  env.OTEL_SDK_DISABLED !== 'true' &&
  env.OTEL_TRACES_EXPORTER !== 'none' &&
  [env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT, env.OTEL_EXPORTER_OTLP_ENDPOINT].some(Boolean);
