/** The progress of a scan. */
export interface ScanProgress {
  /** Files and folders found so far. */
  readonly found: number;
  /** The number of files to read; 0 while folders are still being listed. */
  readonly total: number;
  readonly hashed: number;
  /** Absent while some sizes are unknown: in a large site, files are examined only when they are read. */
  readonly totalBytes?: number;
  /** The number of bytes read so far. */
  readonly bytes: number;
}
