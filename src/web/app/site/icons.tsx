export const FolderIcon = () => (
  <svg class="folder" viewBox="0 0 48 40" width={72} height={60} aria-hidden="true">
    <path d="M2 6a4 4 0 0 1 4-4h11l5 5h20a4 4 0 0 1 4 4v23a4 4 0 0 1-4 4H6a4 4 0 0 1-4-4z" />
    <path class="front" d="M2 15h44v19a4 4 0 0 1-4 4H6a4 4 0 0 1-4-4z" />
  </svg>
);

/** A sheet with the file extension on it. */
export const FileIcon = ({ extension }: { readonly extension: string }) => (
  <svg class="file" viewBox="0 0 40 48" width={60} height={72} aria-hidden="true">
    <path d="M5 1h20l10 10v33a3 3 0 0 1-3 3H5a3 3 0 0 1-3-3V4a3 3 0 0 1 3-3z" />
    <path class="fold" d="M25 1v10h10" />
    <text x="18.5" y="34" text-anchor="middle">
      {extension.slice(0, 5)}
    </text>
  </svg>
);
