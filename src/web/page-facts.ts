import type { components } from '../generated/dashboard/types.js';

type Schemas = components['schemas'];

/** What the document of a page tells of whoever opened it: what the page would ask before it could draw anything. */
export interface PageFacts {
  /** `null` where nobody is signed in. */
  readonly session: Schemas['SessionUser'] | null;
  readonly theme: Schemas['Theme'];
  /** A name of the IANA database, or an empty text. */
  readonly timezone: string;
  /** On pages of a board, of a person. */
  readonly board?: BoardFacts;
}

export interface BoardFacts {
  readonly filters: Schemas['FilterState'];
  readonly views: readonly Schemas['SavedView'][];
  readonly sharedWithMe: readonly Schemas['SharedUser'][];
}
