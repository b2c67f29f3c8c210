/** Saves text as a download of the browser. */
export function saveFile(name: string, text: string, type: string): void {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  // The click has already started the download, which keeps its own reference to the data.
  URL.revokeObjectURL(url);
}
