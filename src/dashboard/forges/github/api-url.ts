/**
 * Says where GitHub's REST API is, given where its pages are; empty stands for github.com. A server of one's own has it
 * below its pages, github.com and those of the enterprise's cloud on a host of its own.
 */
export function toGithubApiUrl(url: string): string {
  if (url === '' || /^https?:\/\/(www\.)?github\.com$/.test(url)) return 'https://api.github.com';
  const [, cloud] = /^https:\/\/([a-z0-9-]+\.ghe\.com)$/.exec(url) ?? [];
  return cloud === undefined ? `${url}/api/v3` : `https://api.${cloud}`;
}

/** The inverse: where the pages are, given where the API is. */
export function toGithubWebUrl(apiUrl: string): string {
  return apiUrl.replace(/\/api\/v3$/, '').replace(/^https:\/\/api\./, 'https://');
}
