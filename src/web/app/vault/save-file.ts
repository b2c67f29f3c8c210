/** Has the browser save a text, as if it had been downloaded. */
export function saveFile(name: string, text: string, type: string): void {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  // The browser has taken hold of it by the time the click is over.
  URL.revokeObjectURL(url);
}
