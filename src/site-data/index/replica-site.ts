import { EventEmitter } from 'node:events';
import type { RecordChange } from '@trellis/site/record-changes';
import { openCopiedRecords, recordsDigest } from '@trellis/site/site';
import type { Config } from '../../config/config.js';
import type { ObjectStore } from '../../storage/objects/object-store.js';
import { followSite } from '../../workers/follow-site.js';
import type { ToWorker } from '../../workers/primary-link.js';
import { loadSiteSchema, loadSourceModules } from '../schema.js';
import type {
  OpenSite,
  SharedRecords,
  SharedSite,
  SharingSiteService,
  SiteReport,
  SiteService,
  SiteState,
  SiteWork,
} from '../service.js';
import { type SiteServiceOptions, STARTING, withIndexAge } from '../start-site.js';
import { followIndex, type IndexFollower, type LocalIndex } from './index-follower.js';
import type { IndexProgress } from './index-head.js';
import { toReplicaFolder } from './site-files.js';

/** The description of a site that its publisher adds to the records. */
export type SiteDescription = Pick<
  SharedSite & { readonly status: 'open' },
  'config' | 'directory' | 'storedQueries' | 'summary'
>;

/** Starts to serve the site whose index another server publishes to the bucket. */
export function startReplicaSite(config: Config, store: ObjectStore, options: SiteServiceOptions): SharingSiteService {
  return new ReplicaSite(config, store, options);
}

const NO_RECORDS: SharedRecords = { changedAt: undefined, problems: { entries: [], count: 0 } };

/** Follows the index, and reads its local copy as a worker reads the records of its primary process. */
class ReplicaSite implements SharingSiteService {
  readonly firstAttempt: Promise<OpenSite>;
  readonly #config: Config;
  readonly #options: SiteServiceOptions;
  readonly #messages = new EventEmitter();
  readonly #followed: SiteService;
  readonly #starting: Promise<IndexFollower>;
  #follower: IndexFollower | undefined;
  #shared: SharedSite = { status: 'starting', reason: STARTING };

  constructor(config: Config, store: ObjectStore, options: SiteServiceOptions) {
    this.#config = config;
    this.#options = options;
    this.#followed = followSite(config, {
      ...options,
      primary: {
        on: (kind, listener) => void this.#messages.on(kind, listener),
        send: (message) => {
          if (message.kind === 'damage') this.replaceDamaged(message.reason);
          if (message.kind === 'index') this.makeIndex(message.key);
        },
      },
    });
    this.#starting = this.#start(store);
    this.firstAttempt = this.#open();
    this.firstAttempt.catch(() => undefined);
  }

  get state(): SiteState {
    return this.#followed.state;
  }

  report(details: boolean): SiteReport {
    return withIndexAge(this.#followed.report(details), this.index);
  }

  get index(): IndexProgress | undefined {
    return this.#follower?.progress;
  }

  countWork(): SiteWork {
    return this.#followed.countWork();
  }

  share(): SharedSite {
    return this.#shared;
  }

  makeIndex(key: string): void {
    this.#follower?.makeIndex(key);
  }

  /** The publisher reads the files, and its index has the digests some time later. */
  readDigest(): void {
    return undefined;
  }

  replaceDamaged(error: unknown): void {
    this.#options.log.error(`The copy of the site's index is damaged and read again: ${String(error)}`);
    this.#follower?.replace();
  }

  async close(): Promise<void> {
    const follower = await this.#starting.catch(() => undefined);
    await follower?.close();
    await this.#followed.close();
  }

  async #start(store: ObjectStore): Promise<IndexFollower> {
    const { project, state } = this.#config;
    const { log } = this.#options;
    const [{ tables }, modules] = await Promise.all([loadSiteSchema(project), loadSourceModules(project)]);
    const schema = { tables, modules };
    this.#follower = followIndex(store, {
      folder: toReplicaFolder(state),
      schema: recordsDigest(schema),
      log,
      openCopy: (file) => openCopiedRecords({ ...schema, file, onCommit: (change) => this.#tell('records', change) }),
      onIndex: (index) => this.#serve(index),
      onRecords: (records) => this.#update(records),
      onUnavailable: (reason) => {
        this.#shared = { status: 'unavailable', reason };
        // A server of the site alone waits for the first index.
        this.#options.onShared?.('site');
        if (this.#config.services.length > 1) this.#messages.emit('site', { kind: 'site', site: this.#shared });
      },
    });
    return this.#follower;
  }

  /** Settles when the site is open; rejects if the bucket refuses this server. */
  async #open(): Promise<OpenSite> {
    const follower = await this.#starting;
    return Promise.race([this.#followed.firstAttempt, follower.firstRead.then(() => this.#followed.firstAttempt)]);
  }

  #serve({ file, description }: LocalIndex): void {
    const records = this.#shared.status === 'open' ? this.#shared : NO_RECORDS;
    const { changedAt, problems } = records;
    this.#shared = { ...(description as SiteDescription), status: 'open', file, changedAt, problems };
    this.#tell('site');
  }

  #update({ changedAt, problems }: SharedRecords): void {
    if (this.#shared.status !== 'open') return;
    this.#shared = { ...this.#shared, changedAt, problems };
    this.#tell('records');
  }

  /** Passes the state on to the reader in this process, and to workers. */
  #tell(what: 'records' | 'site', change?: RecordChange): void {
    const site = this.#shared;
    if (site.status !== 'open') return;
    const { changedAt, problems } = site;
    const records = { changedAt, problems, ...(change && { change }) };
    const message: ToWorker = what === 'site' ? { kind: 'site', site } : { kind: 'records', ...records };
    this.#messages.emit(what, message);
    this.#options.onShared?.(what, change);
  }
}
