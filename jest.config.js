import { listDatabaseTests } from './tests/runner/database-tests.js';

/** The options of every project; `engine` is the database that its tests use. */
const project = (name, engine = name) => ({
  displayName: name,
  globals: { ENGINE: engine },
  // Tests run on Node's own module loader and in one realm, so that a worker loads the application once.
  runtime: '<rootDir>/tests/runner/runtime.js',
  testEnvironment: '<rootDir>/tests/runner/environment.js',
  transform: {},
  extensionsToTreatAsEsm: ['.ts'],
  roots: ['<rootDir>/tests', '<rootDir>/packages'],
  setupFilesAfterEnv: ['<rootDir>/tests/seed.ts'],
});

export default {
  projects: [
    {
      ...project('Browser', 'SQLite'),
      testMatch: ['<rootDir>/tests/e2e/**/*.test.ts'],
      // The tests of a file run in order.
      testEnvironment: '<rootDir>/tests/e2e/support/in-order.js',
    },
    {
      ...project('SQLite'),
      // Browsers, and several servers on one database.
      testPathIgnorePatterns: [
        '/node_modules/',
        // The tests of new projects run in them.
        '/create-trellis/template(-site)?/',
        '/tests/e2e/',
        'storage/postgres\\.test\\.ts$',
        'storage/notices\\.test\\.ts$',
        'contract/two-servers\\.test\\.ts$',
        'contract/interrupted-write\\.test\\.ts$',
        'contract/paused-server\\.test\\.ts$',
        'contract/replicas\\.test\\.ts$',
      ],
    },
    {
      ...project('PostgreSQL'),
      // The tests that open a database, on the second engine. The outcome of others cannot depend on it.
      testMatch: listDatabaseTests(),
      globalSetup: '<rootDir>/tests/storage/start-postgres.js',
      globalTeardown: '<rootDir>/tests/storage/stop-postgres.js',
    },
  ],
  testSequencer: '<rootDir>/tests/runner/sequencer.js',
  // An option of the run; jest ignores it in a project. Only a busy machine makes a test slow.
  testTimeout: 180_000,
  // One more than the processors of CI, as tests also wait for servers, browsers and databases.
  maxWorkers: 3,
  coverageProvider: 'v8',
  collectCoverageFrom: ['src/**/*.ts', 'packages/*/src/**/*.ts', '!src/generated/**', '!**/*.d.ts'],
};
