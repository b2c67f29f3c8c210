import type { CallCounts } from '@trellis/core/concurrency';
import type { Images, ImagesOptions } from '@trellis/images/images';
import type { MarkdownTexts } from '@trellis/site/graphql/computed-fields';
import type { SiteSchemaOptions } from '@trellis/site/graphql/site-schema';
import type { StoredQuery } from '@trellis/site/graphql/stored-queries';
import type { MarkdownLinks } from '@trellis/site/markdown/links';
import type { MarkdownRenderer } from '@trellis/site/markdown/markdown-renderer';
import type { PublicFiles } from '@trellis/site/public-files';
import type { FormatDate } from '@trellis/site/query/dates';
import type { RecordChange } from '@trellis/site/record-changes';
import type { ReadableSite, Site } from '@trellis/site/site';
import type { ProblemReport } from '@trellis/site/sources/problems';
import type { ImageSources } from './images.js';
import type { IndexProgress } from './index/index-head.js';

/** An open site with the objects that serve its requests. */
export interface OpenSite {
  readonly site: ReadableSite;
  /** The schema of the project, with its record tables and resolvers. */
  readonly schema: SiteSchemaOptions;
  readonly imaging: ImageService;
  readonly markdown: MarkdownService;
  readonly formatDate: FormatDate;
  /** The stored queries, if the site allows only their image arguments; absent when it allows all. */
  readonly storedQueries: readonly StoredQuery[] | undefined;
}

/** The state of the site for probes and pages. */
export type SiteReport =
  | {
      readonly status: 'ok';
      readonly problemCount: number;
      readonly problems?: ProblemReport['entries'];
      /** The time since the index of the publisher was confirmed; absent unless an index is published or followed. */
      readonly indexAgeSeconds?: number;
    }
  | { readonly status: 'starting' | 'unavailable'; readonly reason: string };

/** The open site, or the reason why it is unavailable. */
export type SiteState =
  { readonly open: OpenSite } | { readonly status: 'starting' | 'unavailable'; readonly reason: string };

/** The site service, which opens the site while the other services already run, and retries after a failure. */
export interface SiteService {
  readonly state: SiteState;
  /** Settles with the first attempt to open the site; rejects with its error. */
  readonly firstAttempt: Promise<OpenSite>;
  /** @param details Whether to list the problems. The list contains names and values of files. */
  report(details: boolean): SiteReport;
  /** The index in a bucket that this process publishes or follows. */
  readonly index?: IndexProgress;
  /** Returns what the site does in the background. */
  countWork(): SiteWork;
  /** Returns the previews that this process renders ahead of queries, if it does. */
  countPreviews?(): PreviewCounts | undefined;
  close(): Promise<void>;
}

/** The state of a site for the processes that only read its records. */
export type SharedSite =
  | { readonly status: 'starting' | 'unavailable'; readonly reason: string }
  | (Pick<OpenSite, 'storedQueries'> &
      Pick<Site, 'config' | 'file' | 'summary'> & {
        readonly status: 'open';
        /** The folder of the site, to which paths in messages are relative. */
        readonly directory: string;
      } & SharedRecords);

/** The part of {@link SharedSite} that changes while the site is open. */
export interface SharedRecords {
  readonly changedAt: number | undefined;
  readonly problems: ProblemReport;
  /** The change of the records, if there was one. */
  readonly change?: RecordChange;
}

/** The site service of the process that writes the records, which may share them with others. */
export interface SharingSiteService extends SiteService {
  share(): SharedSite;
  /** Creates the index of a query shape for a process that reads the records. */
  makeIndex(key: string): void;
  /** Has a large file read, for a process that reads the records. */
  readDigest(pending: string): void;
  /** Makes the records again, because a process that reads them found them damaged. */
  replaceDamaged(error: unknown): void;
}

/** The background work of a site. */
export interface SiteWork {
  readonly status: SiteReport['status'];
  readonly records: number;
  /** The time of the last change of the records, in milliseconds; `undefined` before the first one. */
  readonly changedAt: number | undefined;
  readonly problems: number;
  readonly images: CallCounts;
}

/** The source images of a site, the images derived from them, and the public copies of files. */
export interface ImageService {
  readonly pictures: ImageSources;
  readonly images: Images;
  readonly publicFiles: PublicFiles;
  /** Signs the links; absent for links without signatures. */
  readonly signer: ImagesOptions['signer'];
}

/** The rendered texts of an open site. */
export interface MarkdownService
  extends
    MarkdownTexts,
    Pick<MarkdownLinks, 'listBrokenLinks'>,
    Pick<MarkdownRenderer, 'close' | 'isFull' | 'prepare'> {}

/** The previews of images that are rendered ahead of queries. */
export interface PreviewCounts {
  readonly rendered: number;
  readonly waiting: number;
}
