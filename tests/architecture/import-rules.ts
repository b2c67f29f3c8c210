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
  rooms: ['storage', 'core', 'accounts/callers', 'accounts/token-access'],
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
      ...['core', 'config', 'site-markdown', 'site-schema', 'site-service', 'resolvers', 'site', 'accounts'],
      ...['secrets', 'storage', 'dashboard', 'client', 'sealing', 'generated/secrets/client', 'codegen', 'server'],
    ],
  },
  main: { rooms: ['core', 'config', 'log', 'metrics', 'start-server', 'startup-report', 'tracing', 'workers'] },
  'start-server': { rooms: ['app', 'server', 'services', 'config', 'site-requests'] },
  'startup-report': { rooms: ['config', 'log', 'setup-link'] },
  // The processes of a server: one that owns the state folder, and those that serve requests.
  workers: {
    rooms: [
      ...[
        'core',
        'server',
        'site',
        'config',
        'log',
        'metrics',
        'services',
        'site-markdown',
        'site-schema',
        'site-service',
      ],
      ...['start-server', 'startup-report', 'tracing'],
    ],
  },
  'setup-link': { rooms: ['accounts', 'core'], packages: 'no transport' },
  tracing: { rooms: ['server', 'config', 'log'] },
  log: { rooms: ['server'] },
  // Reads the state of the services, which know nothing of metrics.
  metrics: { rooms: ['config', 'dashboard', 'storage'] },
  // Starts the server of a project for its tests.
  testing: { rooms: ['config', 'start-server', 'server'] },
  app: { rooms: ['server', 'handlers', 'page-paths', 'project', 'site-requests'] },
  'site-requests': { rooms: ['server', 'site/graphql', 'resolvers', 'page-paths'] },
  // The services of this product, as any other project lists its own.
  product: { rooms: ['project', 'handlers', 'generated', 'resolvers', 'secrets-handlers'], packages: [] },
  'secrets-handlers': { rooms: ['handlers', 'server'], packages: [] },
  project: { rooms: ['product'], packages: [] },
  services: {
    rooms: ['core', 'accounts', 'site', 'dashboard', 'secrets', 'storage', 'site-index', 'site-service', 'workers'],
  },
  // A replica reads the copy of an index as a worker reads the records of its primary process.
  'site-index': {
    rooms: ['core', 'site', 'site-schema', 'site-service', 'storage', 'workers'],
    packages: 'no transport',
  },
  'site-service': { rooms: ['core', 'site', 'images', 'site-images', 'site-markdown', 'site-previews', 'site-schema'] },
  'site-markdown': { rooms: ['core', 'site'], packages: [] },
  'site-schema': { rooms: ['config'], packages: ['node:fs', 'node:fs/promises'] },
  'site-source': { rooms: ['site'], packages: [] },
  'site-images': { rooms: [], packages: ['lru-cache'] },
  'site-previews': { rooms: [], packages: [] },
  'page-paths': { rooms: [], packages: [] },
  config: { rooms: ['core', 'product', 'project'] },

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
  dashboard: domain,
  // Checks that signatures have the form that clients write and read.
  secrets: { ...domain, rooms: [...domain.rooms, 'sealing/ssh-signature', 'sealing/value-statement'] },
  storage: { rooms: ['core'], packages: 'no transport' },

  generated: { rooms: ['client'] },
  // Encrypts and decrypts values wherever the client runs.
  sealing: { rooms: ['client', 'generated/secrets/client'], packages: 'browser' },
  // The pages use the generated clients, like any other client.
  web: { rooms: ['client', 'sealing', 'generated', 'core'], packages: 'browser' },

  // Outside of src: thin scripts, and the list of generation targets.
  // Screenshots are taken of servers and forges that test helpers start.
  scripts: { rooms: ['codegen', 'generated', 'client', 'images', 'tests'] },
  'codegen.ts': { rooms: ['codegen', 'trellis.config'] },
  'trellis.config.ts': { rooms: ['product'] },
};
