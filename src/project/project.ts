/** What `trellis.config.ts` says: the services of a project, each with its contract and its handlers. */
import type { OperationSpec } from '@trellis/server/rest/operation';
import type { contractRouter } from '@trellis/server/rest/router';
import type { SiteSchemaOptions } from '@trellis/site/graphql/site-schema';
import type { SourceModule } from '@trellis/site/sources/source-modules';
import type { Kysely } from 'kysely';
import type { TokenKind } from '../accounts/bearer-tokens.js';
import type { ConfigValues } from '../config/options.js';
import type { Services } from '../startup/services.js';
import type { Migration } from '../storage/migrate.js';

type RouterOptions = Parameters<typeof contractRouter>[0];

/** The exports of the generated file `operations.ts`. */
export type OperationTable = Pick<RouterOptions, 'basePath' | 'operations' | 'revision' | 'schemes'>;

/** What the handlers of a service receive: the objects of the application, and the service itself. */
export interface ServiceContext extends Omit<Services, 'database'> {
  /** Returns the database with the tables of the service, which its migrations create. */
  readonly database: <Tables>() => Kysely<Tables>;
  /** The generated operation table. */
  readonly table: OperationTable;
  /** The bundled document of the contract. */
  readonly document: URL;
}

/** A service: a contract, and the handlers of its operations. */
export interface ServiceEntry {
  /** The path of the contract; by default `openapi/<name>.yaml`. */
  readonly contract?: string;
  /** Other documents that the contract refers to. */
  readonly documents?: readonly string[];
  /** The environment variable that generated clients read the token from; by default `<NAME>_TOKEN`. */
  readonly tokenVariable?: string;
  /** Whether warnings about the contract are errors. */
  readonly strict?: boolean;
  /** The folder with the generated files, for a service of a package; by default `src/generated` of the project. */
  readonly generated?: URL;
  /** Imports the generated operation table. */
  readonly operations: () => Promise<OperationTable>;
  /** Creates the handlers, by `operationId`. The generated type `<Name>Handlers` lists them. */
  readonly handlers: (context: ServiceContext) => object | Promise<object>;
  /** The kinds of tokens of users that the service accepts beside sessions; by default their API tokens. */
  readonly tokens?: readonly TokenKind[];
  /**
   * Identifies callers, for a service with credentials of its own: a function, or one for each security scheme. By default
   * sessions and `tokens` of users.
   */
  readonly authenticate?: (context: ServiceContext) => RouterOptions['authenticate'];
  /** Creates a listener of requests that end in an error of the caller. */
  readonly onRejected?: (context: ServiceContext) => Promise<RouterOptions['onRejected']>;
  /** The changes of the database that create the tables of the service, in order. Released ones never change. */
  readonly migrations?: () => Promise<readonly Migration[]>;
  /** Fixed messages by error code, for contracts whose clients rely on the text. */
  readonly fixedMessages?: RouterOptions['fixedMessages'];
  /** Operations that respond with a secret, which are never compressed; if absent, none of the service is. */
  readonly uncompressedOperations?: readonly string[];
  /** The path of the bundled document; by default `openapi.json` below the base path. */
  readonly documentPath?: string;
  /** Prefixes below which unknown paths are rejected; by default the base path. */
  readonly ownedPrefixes?: readonly string[];
  /** Selects the operations that are served even if the service does not run. */
  readonly isAlwaysServed?: (operation: OperationSpec, server: { readonly accounts: AccountHolders }) => boolean;
}

/** Who can have an account: nobody, only the admin, or also the users that the admin invites. */
export type AccountHolders = 'admin' | 'none' | 'users';

/** The settings of the server, which environment variables and flags override. */
type Settings = Omit<ConfigValues, 'services' | 'site'>;

/** The data of a site. */
export interface SiteEntry {
  /** The folder of the site, unless an option names another one. */
  readonly folder?: string;
  /** Patterns of documents and of code whose queries get types; by default `queries/**` and `scripts/**`. */
  readonly queries?: readonly string[];
  /** Imports the generated tables of the record types in `schema/`. */
  readonly records: () => Promise<{ readonly records: SiteSchemaOptions['tables'] }>;
  /** Imports the sources of records in code, each a module whose default export is `defineSource({…})`. */
  readonly sources?: Readonly<Record<string, () => Promise<{ readonly default: SourceModule }>>>;
  /** Imports the hand-written resolvers, and the functions that replace some of them in filters. */
  readonly resolvers: () => Promise<Pick<SiteSchemaOptions, 'resolvers' | 'values'>>;
}

export interface ProjectOptions extends Settings {
  /** The services by name, if the project has some. A name is also that of the folders in `src/generated` and `src/handlers`. */
  readonly services?: Readonly<Record<string, ServiceEntry>>;
  /** The data of a site; absent if the project serves none. */
  readonly site?: SiteEntry;
  /** Whether users can sign in and create API tokens; by default only if the dashboard or the secrets service runs. */
  readonly accounts?: boolean;
}

/** A project: what it serves, and its settings. */
export interface ProjectConfig
  extends Required<Pick<ProjectOptions, 'services'>>, Pick<ProjectOptions, 'accounts' | 'site'> {
  readonly settings: Settings;
  /** The folder with the generated files. */
  readonly generated: URL;
}

/** The part of a project that its file says. */
export type ProjectFile = Omit<ProjectConfig, 'generated'>;

/** The names of the services of Trellis, which have pages and commands. */
const PRODUCT_NAMES = ['dashboard', 'secrets'] as const;

const NAME = /^[a-z][a-z0-9-]{0,39}$/u;

/**
 * Describes a project. Its file imports handlers and tables only when they are needed, as the generators read it too.
 *
 * @throws Error for a service whose name can't be that of a folder, or is that of a service of Trellis.
 */
export function defineConfig({ services = {}, site, accounts, ...settings }: ProjectOptions): ProjectFile {
  const wrong = Object.keys(services).find((name) => !NAME.test(name) || name === 'site');
  if (wrong !== undefined) {
    throw new Error(
      `Expected a service name of lower-case letters, digits and "-", other than "site"; received "${wrong}".`,
    );
  }
  const taken = PRODUCT_NAMES.find((name) => services[name] !== undefined && services[name].generated === undefined);
  if (taken !== undefined) {
    throw new Error(`The service name "${taken}" belongs to a service of Trellis. Choose a different name.`);
  }
  return { services, site, accounts, settings };
}

/** Returns whether a value is the result of {@link defineConfig}. */
export function isProjectFile(value: object): value is ProjectFile {
  const { services } = value as { readonly services?: unknown };
  return typeof services === 'object' && services !== null && !Array.isArray(services);
}
