/** How far the reading of a site's folder is. */
export interface CrawlProgress {
  /** Files and folders found so far. */
  readonly found: number;
  /** Files to read; 0 while the folder is still being listed. */
  readonly total: number;
  readonly hashed: number;
  /** Absent while not all sizes are known: many files are looked at only when they are read. */
  readonly totalBytes?: number;
  /** Read so far. */
  readonly bytes: number;
}
