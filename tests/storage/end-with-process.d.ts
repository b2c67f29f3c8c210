export declare function endPostgresWithProcess(folder: string): void;
