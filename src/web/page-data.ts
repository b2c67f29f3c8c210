import type { FirstRows } from '../dashboard/boards/first-rows.js';
import type { components } from '../generated/dashboard/types.js';

type Schemas = components['schemas'];

/** Data about the signed-in user, embedded in the document so that a page can be drawn without another request. */
export interface PageData {
  /** `null` without a session. */
  readonly session: Schemas['SessionUser'] | null;
  readonly theme: Schemas['Theme'];
  /** An IANA time zone name, or an empty string. */
  readonly timezone: string;
  /** Only in documents of board pages, for a signed-in user. */
  readonly board?: BoardPageData;
}

/** The contract of a service, embedded in every document. */
export interface ContractLink {
  /** The name of the service, such as `Pull requests`. */
  readonly name: string;
  /** The path of the bundled document. */
  readonly url: string;
  /** The path that the paths of the service begin with. */
  readonly basePath: string;
}

export interface BoardPageData {
  readonly filters: Schemas['FilterState'];
  readonly views: readonly Schemas['SavedView'][];
  readonly sharedWithMe: readonly Schemas['SharedUser'][];
  /** Only in the document of the pull requests, while their stored filter lists all of them. */
  readonly firstRows?: FirstRows;
}
