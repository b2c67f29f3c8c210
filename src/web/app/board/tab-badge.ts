/** Shows a number in the title and on the icon of the browser tab. */
export function setTabBadge(count: number, title: string): void {
  document.title = count === 0 ? `${title} · Trellis` : `(${count}) ${title} · Trellis`;
  const icon = document.querySelector<HTMLLinkElement>('link[rel="icon"]');
  if (icon === null) return;
  icon.dataset.plain ??= icon.href;
  icon.href = count === 0 ? icon.dataset.plain : drawIcon(count);
}

/** The icon has room for two digits. */
const MOST = 99;

function drawIcon(count: number): string {
  const text = count > MOST ? `${MOST}+` : String(count);
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#17614a"/><text x="16" y="22" font-family="sans-serif" font-size="${text.length > 2 ? 13 : 17}" font-weight="700" text-anchor="middle" fill="#fff">${text}</text></svg>`;
  return `data:image/svg+xml,${encodeURIComponent(svg)}`;
}
