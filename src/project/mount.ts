import type { OperationSpec } from '@trellis/server/rest/operation';
import type { Kysely } from 'kysely';
import type { Config } from '../config/config.js';
import { StartupError } from '../config/startup-error.js';
import { dashboard, product } from '../product.js';
import type { Services } from '../startup/services.js';
import type { ProjectConfig, ServiceContext, ServiceEntry } from './project.js';

/** A service of a project with its generated table and its handlers. */
export interface MountedService {
  readonly name: string;
  readonly entry: ServiceEntry;
  readonly context: ServiceContext;
  readonly handlers: object;
  readonly onRejected: Awaited<ReturnType<NonNullable<ServiceEntry['onRejected']>>>;
  /** The operations that are served. */
  readonly operations: readonly OperationSpec[];
  /** The path of the bundled document. */
  readonly documentPath: string;
  /** Whether the service runs. Otherwise only some of its operations are served. */
  readonly isRunning: boolean;
}

/** Imports the tables of all services of which operations are served, and creates their handlers. */
export async function mountServices(config: Config, services: Services): Promise<MountedService[]> {
  // The table of a service that serves nothing would be loaded with its validators for nothing.
  const served = listServices(config.project).filter(
    ([name, { isAlwaysServed }]) => config.services.includes(name) || isAlwaysServed !== undefined,
  );
  const all = await Promise.all(served.map((one) => mount(one, config, services)));
  const mounted = all.filter(({ operations }) => operations.length > 0);
  assertDistinctOperations(mounted);
  return mounted;
}

/** Asserts that no two services have the same operation, of which one would never be called. */
function assertDistinctOperations(mounted: readonly MountedService[]): void {
  const owners = new Map<string, string>();
  for (const service of putProductFirst(mounted)) {
    const { basePath } = service.context.table;
    for (const { method, path } of service.operations) {
      const target = `${method.toUpperCase()} ${basePath}${path}`;
      const key = target.replaceAll(/\{[^{}]+\}/gu, '{}');
      const owner = owners.get(key);
      if (owner !== undefined) {
        throw new StartupError(
          `${target} of the service "${service.name}" is also an operation of ${owner}. Change its path in the contract`,
        );
      }
      owners.set(key, isOwn(service) ? `the service "${service.name}"` : 'Trellis');
    }
  }
}

/** Whether a service is not one of this product. */
const isOwn = ({ entry }: MountedService): boolean => !Object.values(product.services).includes(entry);

/** Orders services so that a path with parameters in a contract of a project hides no operation of this product. */
export const putProductFirst = (mounted: readonly MountedService[]): MountedService[] => [
  ...mounted.filter((service) => !isOwn(service)),
  ...mounted.filter(isOwn),
];

type NamedService = readonly [name: string, entry: ServiceEntry];

/**
 * Lists the services of a project, and then the one of this product whose operations every server has: health and those
 * of accounts.
 */
function listServices({ services }: ProjectConfig): NamedService[] {
  const own = Object.entries(services);
  return own.some(([, entry]) => entry === dashboard) ? own : [...own, ['dashboard', dashboard]];
}

async function mount(
  [name, entry]: NamedService,
  { project, services: running, accounts }: Config,
  services: Services,
): Promise<MountedService> {
  const isRunning = running.includes(name);
  const table = await entry.operations();
  const operations = table.operations.filter(
    (operation) => isRunning || entry.isAlwaysServed?.(operation, { accounts }) === true,
  );
  const document = new URL(`${name}/openapi.json`, entry.generated ?? project.generated);
  // Only the service itself knows its tables.
  const database = <Tables>() => services.database as unknown as Kysely<Tables>;
  const context = { ...services, database, table, document };
  const handlers = operations.length > 0 ? await entry.handlers(context) : {};
  assertHandlers(name, operations, handlers);
  const documentPath = entry.documentPath ?? `${table.basePath}/openapi.json`;
  const onRejected = await entry.onRejected?.(context);
  return { name, entry, context, handlers, onRejected, operations, documentPath, isRunning };
}

/** Asserts that all operations have handlers. The compiler does too, but a server may run before it. */
function assertHandlers(name: string, operations: readonly OperationSpec[], handlers: object): void {
  const missing = operations.map(({ id }) => id).filter((id) => !(id in handlers));
  if (missing.length === 0) return;
  const noun = missing.length === 1 ? 'handler' : 'handlers';
  throw new StartupError(
    `The service "${name}" has no ${noun} for ${missing.join(', ')}. "trellis generate --stub" writes the missing ${noun}`,
  );
}

/** Returns the name of a contract in the API reference: `pull-requests` → `Pull requests`. */
export function toContractName(name: string): string {
  const words = name.replaceAll('-', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}
