/** The value imports that a folder may have. `import type` and imports within the folder are always allowed. */
export interface ImportRule {
  /** Folders, or single files of folders. */
  rooms: readonly string[];
  /** By default `all`. `browser` excludes built-in modules of Node, and `no transport` excludes express and graphql. */
  packages?: 'all' | 'browser' | 'no transport' | readonly string[];
}

/** A domain contains rules and storage. It does not depend on the transport or on other domains. */
const domain: ImportRule = {
  rooms: ['storage', 'core', 'accounts/callers'],
  packages: 'no transport',
};

/** The import rules by folder of `src`, or by file next to these folders. */
export const IMPORT_RULES: Readonly<Record<string, ImportRule>> = {
  cli: { rooms: ['main', 'commands', 'config', 'config-options', 'startup-error'] },
  // Each command is a program that opens the services it needs.
  commands: {
    rooms: [
      ...[
        'core',
        'config',
        'config-options',
        'startup-error',
        'site-data',
        'resolvers',
        'site',
        'accounts',
        'secrets',
        'storage',
      ],
      ...['client', 'sealing', 'generated/secrets/client', 'secrets'],
    ],
  },
  main: { rooms: ['app', 'services', 'config', 'listen', 'config-options', 'startup-error'] },
  app: { rooms: ['server', 'handlers', 'resolvers', 'generated'] },
  services: { rooms: ['accounts', 'site', 'dashboard', 'secrets', 'storage', 'site-service'] },
  'site-service': { rooms: ['core', 'site', 'site-data'] },
  'site-data': { rooms: ['site', 'images', 'generated'] },
  listen: { rooms: ['startup-error'] },
  config: { rooms: ['config-file', 'config-options', 'site-access', 'startup-error'] },
  'site-access': { rooms: ['config-options', 'startup-error'] },
  'config-file': { rooms: ['config-options', 'startup-error'] },
  'config-options': { rooms: ['startup-error'] },
  'startup-error': { rooms: [], packages: [] },
  // What the toolkit's parts share. Pages import it too.
  core: { rooms: [], packages: ['node:fs', 'node:fs/promises'] },

  handlers: { rooms: [], packages: [] },
  // Resolvers receive their services as arguments, and bind them to the generated schema.
  resolvers: { rooms: ['generated', 'core'], packages: ['graphql', '@graphql-tools/schema'] },
  server: { rooms: ['core', 'accounts/callers'] },

  accounts: domain,
  site: domain,
  images: { rooms: ['core'], packages: 'no transport' },
  dashboard: domain,
  secrets: domain,
  storage: { rooms: ['core'], packages: 'no transport' },

  generated: { rooms: ['client'] },
  client: { rooms: [], packages: 'browser' },
  // Encrypts and decrypts values wherever the client runs.
  sealing: { rooms: ['client', 'generated/secrets/client'], packages: 'browser' },
  // The pages use the generated clients, like any other client.
  web: { rooms: ['client', 'sealing', 'generated', 'core'], packages: 'browser' },
  codegen: { rooms: [] },

  // Outside of src: thin scripts, and the list of generation targets.
  // Screenshots are taken of servers and forges that test helpers start.
  scripts: { rooms: ['codegen', 'generated', 'client', 'images', 'tests'] },
  'codegen.ts': { rooms: ['codegen'] },
};
