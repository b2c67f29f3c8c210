/** The parts of the metrics package that are used. The build puts their code here: installed, its packages take 5 MB. */
export { AggregatorRegistry, collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
