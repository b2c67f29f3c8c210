/**
 * The value imports that a folder may have. Imports within the folder are always allowed, and those of types too unless
 * the folder is self-contained.
 */
export interface ImportRule {
  /** Folders, or single files of folders. */
  rooms: readonly string[];
  /** Whether the rule applies to imports of types as well. */
  isSelfContained?: true;
  /** By default `all`. `browser` excludes built-in modules of Node, and `no transport` excludes express and graphql. */
  packages?: 'all' | 'browser' | 'no transport' | readonly string[];
}

/** A domain contains rules and storage. It does not depend on the transport or on other domains. */
const domain: ImportRule = {
  rooms: ['storage', 'core', 'accounts/callers'],
  packages: 'no transport',
};

/** A part of the toolkit knows nothing of the product, and of the other parts only what they share. */
const toolkit = { rooms: ['core'], isSelfContained: true } as const;

/** The import rules by package or a folder of it, by folder of `src`, or by file next to these folders. */
export const IMPORT_RULES: Readonly<Record<string, ImportRule>> = {
  cli: { rooms: ['program', 'commands'] },
  program: { rooms: ['main', 'commands', 'config'] },
  // Each command is a program that opens the services it needs.
  commands: {
    rooms: [
      ...['core', 'config', 'site-data', 'resolvers', 'site', 'accounts'],
      ...['secrets', 'storage', 'dashboard', 'client', 'sealing', 'generated/secrets/client', 'codegen', 'server'],
    ],
  },
  main: { rooms: ['core', 'config', 'startup', 'telemetry', 'workers'] },
  // Binds the services to each other, and handlers and resolvers to the contracts.
  startup: {
    rooms: [
      ...['core', 'server', 'config', 'project', 'handlers', 'telemetry/log', 'workers'],
      ...['accounts', 'site', 'site-data', 'dashboard', 'secrets', 'storage'],
    ],
  },
  // The processes of a server: one that owns the state folder, and those that serve requests.
  workers: { rooms: ['core', 'server', 'site', 'config', 'site-data', 'startup', 'telemetry'] },
  telemetry: { rooms: ['server'] },
  'telemetry/tracing': { rooms: ['server', 'config', 'telemetry/log'] },
  // Reads the state of the services, which know nothing of metrics.
  'telemetry/metrics': { rooms: ['config', 'dashboard', 'storage'] },
  // Starts the server of a project for its tests.
  testing: { rooms: ['config', 'startup/start-server', 'server'] },
  // The services of this product, as any other project lists its own.
  product: { rooms: ['project', 'handlers', 'generated', 'resolvers', 'startup/secrets-handlers'], packages: [] },
  project: { rooms: ['product', 'config/startup-error'], packages: [] },
  // The site of the process: its records, images and texts, and the requests for them.
  'site-data': { rooms: ['core', 'server', 'site', 'images', 'config', 'resolvers', 'startup/page-paths'] },
  // A replica reads the copy of an index as a worker reads the records of its primary process.
  'site-data/index': { rooms: ['core', 'site', 'site-data', 'storage', 'workers'], packages: 'no transport' },
  config: { rooms: ['core', 'product', 'project', 'storage/objects/s3-location'] },

  // What the toolkit's parts share. Pages import it too.
  core: { rooms: [], isSelfContained: true, packages: ['node:fs', 'node:fs/promises', 'node:path'] },
  codegen: toolkit,
  server: toolkit,
  site: { ...toolkit, packages: 'no transport' },
  // Binds the records to a GraphQL schema; the rest of the package knows nothing of it.
  'site/graphql': { rooms: ['core', 'site'], isSelfContained: true },
  images: { ...toolkit, packages: 'no transport' },
  'create-trellis': { rooms: [], isSelfContained: true },
  client: { rooms: [], isSelfContained: true, packages: 'browser' },

  handlers: { rooms: [], packages: [] },
  // Resolvers receive their services as arguments, and bind them to the generated schema.
  resolvers: { rooms: ['generated', 'core', 'site/graphql'], packages: ['graphql', 'dataloader'] },

  accounts: domain,
  dashboard: { ...domain, rooms: [...domain.rooms, 'board-search'] },
  // Checks that signatures have the form that clients write and read.
  secrets: {
    ...domain,
    rooms: [...domain.rooms, 'sealing/env-names', 'sealing/ssh-signature', 'sealing/value-statement'],
  },
  storage: { rooms: ['core'], packages: 'no transport' },

  // Generated validators use the helpers of the server's ajv.
  generated: { rooms: ['client', 'server/rest/operation'] },
  // Encrypts and decrypts values wherever the client runs.
  sealing: { rooms: ['client', 'generated/secrets/client'], packages: 'browser' },
  // Pages and the server evaluate searches of a board alike.
  'board-search': { rooms: [], packages: [] },
  // Follows boards wherever the client runs.
  'board-stream': { rooms: ['client', 'generated'], packages: 'browser' },
  // The pages use the generated clients, like any other client.
  web: { rooms: ['client', 'board-search', 'board-stream', 'sealing', 'generated', 'core'], packages: 'browser' },

  // Outside of src: thin scripts, and the list of generation targets.
  // Screenshots are taken of servers and forges that test helpers start.
  scripts: { rooms: ['codegen', 'generated', 'client', 'images', 'tests'] },
  'codegen.ts': { rooms: ['codegen', 'trellis.config'] },
  'trellis.config.ts': { rooms: ['product'] },
};
